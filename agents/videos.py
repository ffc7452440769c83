"""Videos: of frames, and of what the world model expects to see."""

import io
import pathlib

import imageio_ffmpeg
import numpy as np
import tensorflow as tf
from PIL import Image, ImageDraw, ImageFont
from tensorboard.plugins.image import metadata

from agents.files import replacing
from agents.film_figures import check_context, save_strip

_ROWS = ("truth", "prediction", "error")
_SIDE = 192  # pixels, least height of a frame in a video
_MARGIN = 84  # pixels left of the frames, for the names of the rows
_HEAD = 22  # pixels above them, for the time


def write_video(name, frames, step, frames_per_second=20):
    """Writes an animated GIF to the default summary writer.

    Args:
        name: tag in TensorBoard, under Images.
        frames: [time, height, width, 3], uint8.
        step: environment step.
        frames_per_second: of the playback.
    """
    gif = _gif(frames, frames_per_second)
    height, width = frames.shape[1:3]
    image = tf.stack([tf.as_string(width), tf.as_string(height), gif])
    tf.summary.write(name, image, step, metadata.create_summary_metadata("", ""))


def save_video(folder, name, frames, frames_per_second=20):
    """Saves `<name>.gif` and `<name>.mp4`; small frames are enlarged, never blurred.

    Args:
        folder: where to; made where it is missing.
        name: of the files, without ending.
        frames: [time, height, width, 3], uint8.
        frames_per_second: of the playback.

    Returns:
        The paths of the two files.
    """
    frames = _enlarge(_images("frames", frames))
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    gif, mp4 = folder / f"{name}.gif", folder / f"{name}.mp4"
    with replacing(gif) as file:
        file.write(_gif(frames, frames_per_second))
    # the codec stores colour for blocks of 2 x 2 pixels
    even = np.pad(frames, [(0, 0), *((0, size % 2) for size in frames.shape[1:3]), (0, 0)])
    with replacing(mp4) as file:
        video = imageio_ffmpeg.write_frames(
            file.name,
            even.shape[2:0:-1],
            fps=frames_per_second,
            quality=8,
            macro_block_size=2,
            output_params=["-f", "mp4"],
            ffmpeg_log_level="error",
        )
        video.send(None)
        for frame in even:
            video.send(np.ascontiguousarray(frame))
        video.close()
    return gif, mp4


def save_open_loop_video(folder, name, truth, prediction, context=5, frames_per_second=10):
    """Saves what came and what was predicted, one above the other, and the error.

    Frames 1 to `context` are seen by the model, the others predicted from actions alone.
    The error is grey where the prediction is right: (255 + prediction - truth) / 2.

    Source: Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels,
    open-loop video predictions; the strip has the columns of Tran et al., 2019, Bayesian
    Layers: the last context frame, the first predicted one and then every fifth.

    Args:
        folder: where to; made where it is missing.
        name: of the files, without ending.
        truth: [T, height, width, 3], uint8.
        prediction: [T, height, width, 3], uint8; reconstructions in the context.
        context: number of frames that the model saw, at least 1 and below T.
        frames_per_second: of the playback.

    Returns:
        The paths of `<name>.gif`, `<name>.mp4` and `<name>_strip.png`.
    """
    truth, prediction = _images("truth", truth), _images("prediction", prediction)
    if truth.shape != prediction.shape:
        raise ValueError(
            f"prediction needs the shape of truth, {truth.shape}, got {prediction.shape}"
        )
    check_context(context, len(truth) - 1)
    error = ((255 + prediction.astype(np.int16) - truth) // 2).astype(np.uint8)
    rows = (truth, prediction, error)
    frames = _label(np.concatenate([_enlarge(row) for row in rows], axis=1), context)
    files = save_video(folder, name, frames, frames_per_second)
    later = [number for number in range(context + 2, len(truth) + 1) if number % 5 == 0]
    columns = {"context": context} | {str(n): n for n in (context + 1, *later)}
    chosen = [number - 1 for number in columns.values()]
    strip = {row: images[chosen] for row, images in zip(_ROWS, rows, strict=True)}
    return *files, save_strip(folder, f"{name}_strip", strip, list(columns))


def _images(name, images):
    images = np.asarray(images)
    if images.ndim != 4 or images.shape[-1] != 3 or images.dtype != np.uint8:
        raise ValueError(
            f"{name} needs to be uint8 [time, height, width, 3], "
            f"got {images.dtype} {list(images.shape)}"
        )
    return images


def _enlarge(frames):
    scale = max(1, -(-_SIDE // frames.shape[1]))
    return frames.repeat(scale, axis=1).repeat(scale, axis=2)


def _gif(frames, frames_per_second):
    first, *rest = map(Image.fromarray, frames)
    file = io.BytesIO()
    # a GIF counts by 10 milliseconds: some frames stay longer, so that the whole is in time
    ends = 10 * np.round(np.arange(len(frames) + 1) * 100 / frames_per_second).astype(int)
    durations = np.diff(ends).tolist()
    first.save(file, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
    return file.getvalue()


def _label(frames, context):
    """Adds the names of the rows and the time to stacked frames."""
    font = ImageFont.load_default(14)
    height = frames.shape[1] // len(_ROWS)
    labelled = []
    for number, frame in enumerate(frames, 1):
        page = Image.new("RGB", (frame.shape[1] + _MARGIN, frame.shape[0] + _HEAD), "white")
        page.paste(Image.fromarray(frame), (_MARGIN, _HEAD))
        draw = ImageDraw.Draw(page)
        for row, name in enumerate(_ROWS):
            top = _HEAD + height * row
            draw.line([(0, top), (page.width, top)], "white", 2)
            draw.text((6, _HEAD + height * row + height // 2 - 8), name, "black", font)
        seen = number <= context
        text = f"{number}  {'seen' if seen else 'predicted'}"
        draw.text((_MARGIN + 4, 2), text, "black" if seen else "firebrick", font)
        labelled.append(np.asarray(page))
    return np.stack(labelled)
