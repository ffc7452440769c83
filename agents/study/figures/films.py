"""Films: of frames, of what the world model expects to see, and strips of them."""

import io
import math
import pathlib

import imageio_ffmpeg
import numpy as np
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

from agents.episodes.layout import episode_return
from agents.study.figures.drawing import save_figure
from agents.system.files import replacing

_FRAME = 1.1  # inches, width of a frame in a strip
_TITLE = 0.35  # inches, of a strip
_STRIP = 12  # frames of a strip, at most
_SHORTEST = 0.02  # seconds of a frame; players slow down what is faster
_ROWS = ("truth", "prediction", "error")
_SIDE = 192  # pixels, least height of a frame in a video
_MARGIN = 84  # pixels left of the frames, for the names of the rows
_HEAD = 22  # pixels above them, for the time


def save_video(folder, name, frames, frames_per_second=20):
    """Saves `<name>.gif` and `<name>.mp4`; small frames are enlarged, never blurred.

    Frames are uint8 [time, height, width, 3]; the folder is made where it is missing.
    Returns the paths of the two files.
    """
    frames = _enlarge(frames)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    gif_file, mp4 = folder / f"{name}.gif", folder / f"{name}.mp4"
    with replacing(gif_file) as file:
        file.write(gif(frames, frames_per_second))
    # the codec stores colour for blocks of 2 x 2 pixels
    even = np.pad(frames, [(0, 0), *((0, size % 2) for size in frames.shape[1:3]), (0, 0)])
    with replacing(mp4) as file:
        video = imageio_ffmpeg.write_frames(
            file.name,
            even.shape[2:0:-1],
            fps=frames_per_second,
            macro_block_size=2,
            output_params=["-f", "mp4"],
            ffmpeg_log_level="error",
        )
        video.send(None)
        for frame in even:
            video.send(np.ascontiguousarray(frame))
        video.close()
    return gif_file, mp4


def save_open_loop_video(folder, name, truth, prediction, context):
    """Saves what came and what was predicted, one above the other, and the error.

    Both are uint8 [T, height, width, 3]. The model saw frames 1 to `context`, where the
    prediction is a reconstruction; the others are predicted from actions alone. The error
    is grey where the prediction is right: (255 + prediction - truth) / 2.

    Source: Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels,
    open-loop video predictions; the strip has the columns of Tran et al., 2019, Bayesian
    Layers: the last context frame, the first predicted one and then every fifth.

    Returns the paths of `<name>.gif`, `<name>.mp4` and `<name>_strip.png`.
    """
    error = ((255 + prediction.astype(np.int16) - truth) // 2).astype(np.uint8)
    rows = (truth, prediction, error)
    frames = _label(np.concatenate([_enlarge(row) for row in rows], axis=1), context)
    files = save_video(folder, name, frames, frames_per_second=10)
    later = [number for number in range(context + 2, len(truth) + 1) if number % 5 == 0]
    columns = {"context": context} | {str(n): n for n in (context + 1, *later)}
    chosen = [number - 1 for number in columns.values()]
    strip = {row: images[chosen] for row, images in zip(_ROWS, rows, strict=True)}
    return *files, save_strip(folder, f"{name}_strip", strip, list(columns))


def _enlarge(frames):
    scale = max(1, -(-_SIDE // frames.shape[1]))
    return frames.repeat(scale, axis=1).repeat(scale, axis=2)


def gif(frames, frames_per_second) -> bytes:
    """An animated GIF of [time, height, width, 3], uint8."""
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
            draw.text((6, top + height // 2 - 8), name, "black", font)
        seen = number <= context
        text = f"{number}  {'seen' if seen else 'predicted'}"
        draw.text((_MARGIN + 4, 2), text, "black" if seen else "firebrick", font)
        labelled.append(np.asarray(page))
    return np.stack(labelled)


def save_strip(folder, name, rows, columns, title=""):
    """Saves frames beside each other as `<name>.png`, whose path it returns.

    Rows are a dict of name -> frames [K, height, width, 3], uint8; columns K names.
    """
    height = (_FRAME + 0.1) * len(rows) + 0.2 + (_TITLE if title else 0)
    figure = Figure(figsize=(_FRAME * len(columns) + 0.9, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.01, h_pad=0.05, wspace=0.01, hspace=0.01)
    grid = figure.subplots(len(rows), len(columns), squeeze=False)
    for axes_row, (row, frames) in zip(grid, rows.items(), strict=True):
        axes_row[0].set_ylabel(row)
        for axes, frame in zip(axes_row, frames, strict=True):
            axes.imshow(frame, interpolation="nearest")
            axes.set(xticks=[], yticks=[])
    for axes, column in zip(grid[0], columns, strict=True):
        axes.set_title(column, fontsize="medium")
    figure.suptitle(title, fontsize="medium")
    return save_figure(figure, pathlib.Path(folder) / f"{name}.png")


def save_recording(recording, folder, name, title):
    """Writes what an agent did as GIF and mp4 in real time, and as a strip of frames.

    The recording is an `agents.episodes.collecting.Recording`, whose return stands beside
    the title of the strip. Returns the paths of the files.
    """
    _, frames, seconds = recording
    every = math.ceil(round(_SHORTEST / seconds, 6))
    files = save_video(folder, name, frames[::every], 1 / (seconds * every))
    rows = range(0, len(frames), math.ceil(len(frames) / _STRIP))
    strip = save_strip(
        folder,
        f"{name}_strip",
        {"": frames[rows]},
        [f"{row * seconds:.1f} s" for row in rows],
        f"{title}: return {episode_return(recording.episode):.1f}",
    )
    return [*files, strip]
