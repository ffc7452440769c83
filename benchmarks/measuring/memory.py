"""Peak resident memory of a case, in a process of its own."""

import json
import pathlib
import resource
import subprocess
import sys


def measured_by(module, *words):
    """The value that `python -m module *words` prints last, as JSON."""
    words = ["-m", module, *map(str, words)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"python {' '.join(words)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def peak_of(case):
    """MiB that a process needs which starts, then does a case, or nothing, three times."""
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
