"""dm_env, gym and gymnasium behind one face, as `envs.simulations.own` needs it.

An interface has

    actions        what describes the actions: shape, dtype and bounds
    observations   what describes the observations: a nest of such descriptions
    time_limit     environment steps after which an episode is cut, or None
    timestep       seconds of an environment step
    reset(seed)    -> observation
    step(action)   -> observation, reward, whether the episode ended, discount
    render(size)   -> a picture, uint8 [size, size, 3]
    close()
"""

import dm_env

from envs.simulations import gym, rendering


def interface(env):
    """The interface of an environment, or None where it has none of the three."""
    if isinstance(env, gym.GymEnv):
        return env  # one of a vector environment
    if isinstance(env, dm_env.Environment):
        return DmEnv(env)
    if not (_has(env, "action_space") and _has(env, "observation_space")):
        return None
    if hasattr(env, "single_action_space"):
        raise TypeError(
            "several environments in one are not supported: return one, and "
            "environments=N runs N of them"
        )
    return gym.GymEnv(env)


def _has(env, name):
    """Whether there is such an attribute, even if reading it raises an error."""
    return name in dir(env) or hasattr(env, name)


class DmEnv:
    """An environment of dm_env.

    dm_env has no word for seeds: the environment's own method `seed(seed)` is used, or the
    random state of a task of dm_control.
    """

    def __init__(self, env):
        self._env = env
        self.actions = env.action_spec()
        self.observations = env.observation_spec()
        self.time_limit = None
        self.timestep = gym.SECONDS
        if hasattr(env, "control_timestep"):
            self.timestep = env.control_timestep()

    def reset(self, seed):
        seeded = _seeding(self._env)
        if seeded is None:
            gym.warn_of_starts(type(self._env).__name__)
        else:
            seeded(gym.one_number(seed))
        return _a_time_step(self._env.reset()).observation

    def step(self, action):
        step = _a_time_step(self._env.step(action))
        if step.first():
            raise ValueError("step_type is FIRST, which only reset returns")
        discount = 1.0 if step.discount is None else float(step.discount)
        return step.observation, gym.one_reward(step.reward), bool(step.last()), discount

    def render(self, size):
        physics = getattr(self._env, "physics", None)
        if not hasattr(physics, "render"):
            raise RuntimeError("this environment draws no picture: it has no physics")
        camera = 0 if physics.model.ncam else -1  # the first, or the free one
        with rendering.explained():
            return physics.render(size, size, camera_id=camera)

    def close(self):
        self._env.close()


def _a_time_step(step):
    if not isinstance(step, dm_env.TimeStep):
        raise TypeError(
            "dm_env wants a dm_env.TimeStep, such as dm_env.transition(reward, "
            f"observation), got {type(step).__name__} {step!r}"[:200]
        )
    if step.step_type not in tuple(dm_env.StepType):
        raise TypeError(f"step_type is a dm_env.StepType, got {step.step_type!r}")
    return step


def _seeding(env):
    if callable(getattr(env, "seed", None)):
        return env.seed
    random = getattr(getattr(env, "task", None), "random", None)
    return getattr(random, "seed", None)
