"""Videos of a run: what the agent does, and what its model imagines."""

import pathlib

import numpy as np
from PIL import Image, ImageSequence

from agents import videos
from agents.evaluate import Evaluator
from agents.film_figures import save_state_prediction
from agents.loading import load_agent
from agents.networks import is_image
from agents.open_loop import CONTEXT, DRAWS, PREDICTED, predict_open_loop


def video(run):
    """Films an evaluation episode of the newest checkpoint of a run.

    Writes to `videos/` of the run: for pixels the truth, the open-loop prediction and the
    error as GIF and mp4 and a strip of frames as PNG; for vectors a figure of predicted
    and true curves, with the spread over weight draws. Prints the files.

    Args:
        run: folder of the run.
    """
    config, agent = load_agent(run)
    folder = pathlib.Path(run) / "videos"
    ((_, episode),) = Evaluator(config, agent).episodes(1)
    name = f"open_loop_{int(agent.clock.environment_steps.numpy())}"
    for file in film(agent.model, episode, config, folder, name):
        print(file)


def film(model, episode, config, folder, name):
    """Writes the open-loop prediction of one episode; returns the files.

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
