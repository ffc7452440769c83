"""The command `bayes-rl video RUN`: what the agent does, and what its model imagines."""

import math
import pathlib
import sys

import numpy as np
from PIL import Image, ImageSequence

from agents import videos
from agents.collecting import as_py_policy
from agents.environments import EVALUATION, load_environments
from agents.evaluate import Evaluator
from agents.film_figures import save_state_prediction, save_strip
from agents.loading import load_agent
from agents.networks import is_image
from agents.open_loop import CONTEXT, DRAWS, PREDICTED, predict_open_loop
from agents.recording import record
from agents.reports import episode_return
from agents.validation import UserError

_STRIP = 12  # frames of a strip, at most
_SHORTEST = 0.02  # seconds of a frame; players slow down what is faster


def video(run):
    """Films an evaluation episode of the newest checkpoint of a run.

    Writes to `videos/` of the run

        episode_<environment steps>     what the agent does, as the simulator shows it, as
                                        fast as it happens: GIF, mp4 and a strip of frames
        open_loop_<environment steps>   see `film`

    and prints the files. Without a rendering library the episode is run but not filmed,
    which a line on stderr says.

    Args:
        run: folder of the run.
    """
    config, agent = load_agent(run)
    folder = pathlib.Path(run) / "videos"
    steps = int(agent.clock.environment_steps.numpy())
    try:
        recording = record(
            load_environments(config, 1, EVALUATION),
            as_py_policy(agent.policy),
            agent.train_step_counter,
        )
    except UserError as error:
        print(f"The episode is not filmed: {error}", file=sys.stderr)
        ((_, episode),) = Evaluator(config, agent).episodes(1)
        files = []
    else:
        episode = recording.episode
        title = f"{config.task} after {steps} environment steps"
        files = save_recording(recording, folder, f"episode_{steps}", title)
    files += film(agent.model, episode, config, folder, f"open_loop_{steps}")
    for file in files:
        print(file)


def save_recording(recording, folder, name, title):
    """Writes what an agent did as GIF and mp4 in real time, and as a strip of frames.

    Args:
        recording: `agents.recording.Recording`.
        folder: where to.
        name: of the files, without ending.
        title: of the strip, beside the return.

    Returns:
        The paths of the files.
    """
    _, frames, seconds = recording
    every = math.ceil(round(_SHORTEST / seconds, 6))
    files = videos.save_video(folder, name, frames[::every], 1 / (seconds * every))
    rows = range(0, len(frames), math.ceil(len(frames) / _STRIP))
    strip = save_strip(
        folder,
        f"{name}_strip",
        {"": frames[rows]},
        [f"{row * seconds:.1f} s" for row in rows],
        f"{title}: return {episode_return(recording.episode):.1f}",
    )
    return [*files, strip]


def film(model, episode, config, folder, name):
    """Writes the open-loop prediction of the start of an episode; returns the files.

    For pixels the truth, the prediction and the error as GIF and mp4 and a strip of frames
    as PNG; for vectors a figure of predicted and true curves, with the spread over weight
    draws.

    Args:
        model: `agents.world_model.WorldModel`.
        episode: see `agents.episodes`.
        config: `agents.config.Train`.
        folder: where to.
        name: of the files, without ending.
    """
    rows = min(CONTEXT + PREDICTED, len(episode["reward"]))
    context = min(CONTEXT, rows - 1)
    episode = {key: value[:rows] for key, value in episode.items()}
    seed = np.array([config.seed, 3], np.int32)
    if is_image(model.observation_spec):
        predicted = predict_open_loop(model, episode, context, draws=0, seed=seed)[0]
        prediction = model.to_image(predicted).numpy()
        truth = episode["observation"]
        return videos.save_open_loop_video(folder, name, truth, prediction, context)
    draws = 0 if config.transition == "deterministic" else DRAWS
    predicted = predict_open_loop(model, episode, context, draws, seed).numpy()
    labels = [f"observation {number}" for number in range(predicted.shape[-1])]
    truth = episode["observation"]
    return [save_state_prediction(folder, name, truth, predicted, context, labels)]


def show(files, metrics, step):
    """Shows the files of `film` in TensorBoard too.

    Args:
        files: PNG and GIF; others are left out.
        metrics: `agents.metrics.MetricsLog`.
        step: environment step.
    """
    for file in map(pathlib.Path, files):
        if file.suffix == ".png":
            metrics.image("open_loop/figure", _pixels(Image.open(file)), step)
        elif file.suffix == ".gif":
            frames = [_pixels(frame) for frame in ImageSequence.Iterator(Image.open(file))]
            metrics.video("open_loop/video", np.stack(frames), step)


def _pixels(image):
    return np.asarray(image.convert("RGB"))
