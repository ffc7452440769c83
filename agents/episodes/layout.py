"""Episodes: how one looks, and how drivers' trajectories become one.

An episode of T decisions is a dict of arrays with T + 1 rows. Row t holds what was seen
at time t and the action and reward that led to it, so row 0 has zeros for both:

    observation  [T + 1, ...]  float32 or uint8
    action       [T + 1, A]    float32
    reward       [T + 1]       float32
    is_first     [T + 1]       bool, true in row 0 alone
    is_terminal  [T + 1]       bool, true where the future is worth nothing
    position     [T + 1, P]    float32, of the simulator
    velocity     [T + 1, V]    float32, of the simulator

Images that are seen beside `observation` are arrays of their own:

    image_NAME   [T + 1, size, size, channels]  uint8

An environment adds four numbers, which files of earlier versions lack:

    number             []  int64, of the episode in the sequence of its seed
    environment_steps  []  int64, before action repeat
    cost               []  float64, of all environment steps: actions, negative rewards
    failed_episodes    []  int64, that failed right before and were left out

what collects for training a fifth, and an actor of several a sixth:

    is_random          []  bool, whether the actions are
    train_steps        []  int64, that the acting weights had taken
"""

import numpy as np

KEYS = (
    "observation",
    "action",
    "reward",
    "is_first",
    "is_terminal",
    "position",
    "velocity",
)
NUMBERS = ("number", "environment_steps", "cost", "failed_episodes")
NUMBERS += ("is_random", "train_steps")
_IMAGE = "image_"
_RANKS = {"action": 2, "reward": 1, "is_first": 1, "is_terminal": 1}


def seen_keys(mapping):
    """Keys of what an agent sees in an episode, a batch or a time step's observation.

    Example:
        >>> seen_keys(["image_wrist", "observation", "position", "image_front"])
        ('observation', 'image_front', 'image_wrist')
    """
    return "observation", *sorted(key for key in mapping if key.startswith(_IMAGE))


def seen_in(mapping):
    """Dict of what an agent sees, of its keys alone."""
    return {key: mapping[key] for key in seen_keys(mapping)}


def known_in(arrays):
    """Dict of what the layout knows, in its order; an episode of a file may have more."""
    keys = *KEYS, *seen_keys(arrays)[1:], *NUMBERS
    return {key: arrays[key] for key in keys if key in arrays}


def check_episode(episode):
    """Raises a ValueError that says how `episode` differs from the layout above.

    Example:
        >>> check_episode({"action": np.zeros([3, 1])})
        Traceback (most recent call last):
        ValueError: episode lacks observation, reward, is_first, is_terminal, position, velocity
    """  # noqa: E501
    missing = [key for key in KEYS if key not in episode]
    if missing:
        raise ValueError(f"episode lacks {', '.join(missing)}")
    shapes = {key: np.shape(episode[key]) for key in (*KEYS, *seen_keys(episode)[1:])}
    rows = {key: shape[0] if shape else 0 for key, shape in shapes.items()}
    if len(set(rows.values())) != 1:
        raise ValueError(f"episode needs equally many rows in each array, got {rows}")
    if rows["reward"] < 2:
        raise ValueError(f"episode needs at least 2 rows, got {rows['reward']}")
    for key, rank in _RANKS.items():
        if len(shapes[key]) != rank:
            raise ValueError(f"episode needs {key} of rank {rank}, got {shapes[key]}")
    is_first = np.asarray(episode["is_first"])
    if not is_first[0] or is_first[1:].any():
        raise ValueError("episode needs is_first true in its first row alone")


def first_rows(episode, count):
    """The start of an episode, at most `count` rows."""
    return {key: rows[:count] for key, rows in episode.items() if key not in NUMBERS}


class EpisodeWriter:
    """Observer of TF-Agents drivers that assembles episodes and hands each one over.

    TF-Agents puts observation, the action taken on it and the reward for that action
    into one frame, and ends an episode with a frame from LAST to FIRST whose action is
    never executed. Here action and reward move one row on, to what they led to.

    Frames before the first FIRST are ignored, and a FIRST in mid-episode (somebody reset
    the environment) drops what came before it: `finished` is called with whole episodes,
    and the number of their environment in the batch.
    """

    def __init__(self, finished):
        self._finished = finished
        self._frames = []  # for each environment: the frames of its episode so far

    def __call__(self, trajectory):
        """Takes one trajectory frame, with a leading axis [B] or without."""
        frame = {
            **trajectory.observation,
            "step_type": trajectory.step_type,
            "action": trajectory.action,
            "reward": trajectory.reward,
            "discount": trajectory.discount,
        }
        if np.ndim(trajectory.step_type) == 0:
            frame = {key: np.asarray(value)[None] for key, value in frame.items()}
        count = len(frame["step_type"])
        if len(self._frames) != count:
            self._frames = [[] for _ in range(count)]
        for environment in range(count):  # which may use its arrays again
            own = {key: np.array(value[environment]) for key, value in frame.items()}
            self._take(own, environment)

    def _take(self, frame, environment):
        frames = self._frames[environment]
        if frame["step_type"] == 0:  # FIRST
            frames.clear()
        elif not frames:
            return
        frames.append(frame)
        if frame["step_type"] == 2:  # LAST
            self._frames[environment] = []
            self._finished(_episode(frames), environment)


def _episode(frames):
    column = {key: np.stack([frame[key] for frame in frames]) for key in frames[0]}
    first = np.arange(len(frames)) == 0
    return seen_in(column) | {
        "action": _shift(column["action"].astype(np.float32)),
        "reward": _shift(column["reward"].astype(np.float32)),
        "is_first": first,
        "is_terminal": ~first & (_shift(column["discount"]) == 0),
        "position": column["position"],
        "velocity": column["velocity"],
    }


def _shift(rows):
    """Moves each row one on; row 0 becomes zeros, the last one is dropped."""
    return np.concatenate([np.zeros_like(rows[:1]), rows[:-1]])


def episode_return(episode) -> float:
    """Undiscounted sum of the rewards of an episode."""
    return float(np.sum(episode["reward"], dtype=np.float64))


def cost(episode) -> float:
    """What actions and negative rewards took from the return of an episode, at least 0.

    An episode tells it, summed over environment steps: the rewards of a decision are sums,
    in which a cost may be hidden by the reward of the next step. Files of earlier versions
    do not tell; there the negative sums count.

    Example:
        >>> cost({"reward": [0.0, 1.0, -2.0, -0.5]})
        2.5
    """
    told = episode.get("cost")
    if told is not None:
        return float(told)
    return float(-np.sum(np.minimum(episode["reward"], 0.0), dtype=np.float64))


def agent_steps(episode) -> int:
    """Actions taken in an episode."""
    return len(episode["reward"]) - 1


def environment_steps(episode, action_repeat) -> int:
    """Environment steps of an episode, whose last action may be cut short.

    Files of earlier versions do not tell; there every action counts in full.

    Example:
        >>> environment_steps({"reward": [0.0, 1.0, 1.0]}, action_repeat=3)
        6
    """
    counted = agent_steps(episode) * action_repeat
    return int(episode.get("environment_steps", counted))
