"""Memory of this process."""

import contextlib
import ctypes
import gc

import psutil


def resident_mib():
    """Resident memory in MiB."""
    return psutil.Process().memory_info().rss / 2**20


def release(collect=False):
    """Gives freed memory back to the system, which the C library would keep in pieces.

    Args:
        collect: whether to look for unreachable objects first, which takes a fraction of a
            second; figures leave many megabytes of them.
    """
    if collect:
        gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
