"""Peak resident memory of a case, in a process of its own."""

import pathlib
import resource
import sys

from benchmarks.measuring.processes import measured_by


def peak_of(case):
    """MiB that a process needs which starts, then does a case three times.

    Args:
        case: `benchmarks.speed.cases.Case`, or None to import the libraries and do nothing.
    """
    words = [] if case is None else [case.kind, *case.words]
    return measured_by("benchmarks.measuring.memory", *words)


def own_peak():
    """MiB, the peak so far of this process."""
    status = pathlib.Path("/proc/self/status")
    # Where there is a choice not ru_maxrss: it starts with the peak of the parent process.
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM:"))
        return int(line.split()[1]) / 2**10
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main(words):
    from benchmarks.speed.cases import Case

    if words:
        kind, *own = words
        function = Case("", "", kind, tuple(own)).make()
        for _ in range(3):
            function()
    print(own_peak())


if __name__ == "__main__":
    main(sys.argv[1:])
