"""Images among the observations of an environment: what they look like, made uint8."""

import dataclasses

import numpy as np

from envs.simulations.choices import bounds_of
from envs.simulations.gym import shrink

_LEAST = 16  # pixels of a side; below it is a table, such as the ten by ten of MinAtar
_CHANNELS = (1, 3)


@dataclasses.dataclass(frozen=True)
class Image:
    """How an array of an observation is an image."""

    shape: tuple
    has_channels_first: bool  # [channels, height, width]
    is_whole: bool  # uint8
    low: float  # black
    high: float  # white

    def __call__(self, array, size):
        """The image of an array, uint8 [size, size, 1 or 3]; pixels are averaged."""
        array = np.asarray(array)
        self._check(array)
        if self.has_channels_first:
            array = np.moveaxis(array, 0, 2)
        if array.ndim == 2:
            array = array[..., np.newaxis]
        if not self.is_whole or (self.low, self.high) != (0, 255):
            share = (array.astype(np.float64) - self.low) / (self.high - self.low)
            self._check_unit(array, share)
            array = np.round(255.0 * np.clip(share, 0.0, 1.0))
        array = array.astype(np.uint8)  # a copy: environments may draw into the same one
        return array if array.shape[:2] == (size, size) else shrink(array, size)

    def _check(self, array):
        if array.shape != self.shape:
            raise ValueError(f"an image must have shape {self.shape}, got {array.shape}")
        kinds = "iu" if self.is_whole else "iuf"
        what = "of whole numbers from 0 to 255" if self.is_whole else "of real numbers"
        if array.dtype.kind not in kinds:
            raise ValueError(f"an image must be {what}, got {array.dtype}")
        if self.is_whole and (array.min() < 0 or array.max() > 255):
            raise ValueError(f"an image must be {what}, got {array.min()} to {array.max()}")
        if not np.isfinite(array).all():
            raise ValueError(
                f"an image must be finite, got {array[~np.isfinite(array)][0]}"
            )

    def _check_unit(self, array, share):
        """A little beyond a bound is noise, as far again as to the other another unit."""
        if share.min() < -1.0 or share.max() > 2.0:
            raise ValueError(
                f"an image must be from {self.low:g} to {self.high:g}, as its spec or "
                f"space says, got {array.min():g} to {array.max():g}"
            )


def as_image(description):
    """The image that a spec or space describes; None where it describes other numbers.

    An image has 1 or 3 channels, first or last, and is uint8, or float in finite bounds
    that are the same for all pixels; or it is uint8 [height, width]. Its sides have 16
    pixels or more.

    Example:
        >>> import gymnasium
        >>> seen = gymnasium.spaces.Box(0.0, 1.0, [3, 48, 64])
        >>> as_image(seen)(np.ones([3, 48, 64]), 32).shape
        (32, 32, 3)
    """
    shape, dtype = tuple(description.shape), np.dtype(description.dtype)
    sides = _sides(shape)
    if sides is None or min(sides) < _LEAST:
        return None
    low, high = bounds_of(description, 0, 255)
    if np.min(low) != np.max(low) or np.min(high) != np.max(high):
        return None  # which of them is white?
    low, high = float(np.min(low)), float(np.max(high))
    if dtype == np.uint8:  # gym writes bounds of 0 and 255, dm_env often none
        low, high = (low, high) if 0 <= low < high <= 255 else (0.0, 255.0)
    elif len(shape) == 2 or dtype.kind != "f" or not 0.0 < high - low <= 255.0:
        return None  # a table, or a map of heights
    is_first = len(shape) == 3 and sides == shape[1:]
    return Image(shape, is_first, dtype == np.uint8, low, high)


def _sides(shape):
    """Height and width, or None where it is no image."""
    if len(shape) == 2:
        return shape
    if len(shape) == 3 and shape[2] in _CHANNELS:
        return shape[:2]
    if len(shape) == 3 and shape[0] in _CHANNELS:
        return shape[1:]
    return None
