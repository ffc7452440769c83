"""What another process measures, as the last line that it prints."""

import json
import subprocess
import sys


def measured_by(module, *words):
    """The value that `python -m module *words` prints last, as JSON.

    Raises:
        RuntimeError: the process failed; tells its command and its standard error.
    """
    words = ["-m", module, *map(str, words)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"python {' '.join(words)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
