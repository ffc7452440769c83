"""Disks that refuse what is written."""

import contextlib
import resource
import signal


@contextlib.contextmanager
def files_up_to(size):
    """A block in which writes that make a file larger than `size` bytes fail."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
