"""One train step, decision and layer by several versions of TensorFlow, in turn.

python -m benchmarks.speed.tensorflows PYTHON [PYTHON ...] --folder results
"""

import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time

from benchmarks.measuring.options import add_folder, use_threads

NOTES = """\
- Milliseconds: processor time on one thread; the median of the rounds. In parentheses: the
  ratio to the first version, median of the rounds [quartiles].
- First call: seconds until the first result, which is traced and compiled. Import: seconds
  of `import bayes_rl`.
- Each version has a process of its own. The versions take turns in each round."""
NAME = "tensorflows"
_MODULE = "benchmarks.speed.tensorflows"
_AGENT = {
    ("train step, cpu size", "reparameterization"),
    ("train step, cpu size", "not compiled"),
    ("train step, paper size", "reparameterization"),
    ("decision, cpu size", "icem"),
    ("decision, cpu size", "icem not compiled"),
    ("decision, paper size", "icem"),
}
_LAYERS = {"Keras", "DenseFlipout", "LSTMCellFlipout", "DenseReparameterization"}
_IMPORT = "import"


def measure_here(repeats):
    """Times the cases in this process, so many calls of each.

    Dict of what was `measured`, name -> milliseconds, with "first call" of each and
    "import" in seconds; and by what `versions`.
    """
    started = time.process_time()
    import bayes_rl  # noqa: F401

    taken = {_IMPORT: time.process_time() - started}
    use_threads(1)
    from benchmarks.measuring.timing import measure, quartiles

    for _, members in itertools.groupby(_cases(), key=lambda case: case.group):
        functions = {f"{case.group}: {case.name}": case.make() for case in members}
        for name, function in functions.items():
            before = time.process_time()
            function()
            taken[f"first call, {name}"] = time.process_time() - before
        seconds = measure(functions, repeats, warmup=1, clock=time.process_time)
        taken |= {name: 1e3 * quartiles(seconds[name])[1] for name in functions}
    import tensorflow as tf

    versions = {"python": sys.version.split()[0], "tensorflow": tf.__version__}
    return {"versions": versions, "measured": taken}


def _cases():
    from envs.quiet import import_gym

    import_gym()
    from benchmarks.speed import cases, layers

    agent = [case for case in cases.all_cases() if (case.group, case.name) in _AGENT]
    return agent + [case for case in layers.all_cases() if case.name in _LAYERS]


def measure_all(pythons, rounds, repeats):
    """Runs `measure_here` by each interpreter in turn, a process in each round.

    Rows have case, python, tensorflow, value (milliseconds; seconds of first calls and of
    the import) and `over_first`, all as medians over the rounds, with the quartiles of
    `over_first` as `_low` and `_high`.
    """
    from benchmarks.measuring.timing import quartiles, spread

    found = {python: [] for python in pythons}
    for turn in range(rounds):
        first = turn % len(pythons)
        for python in pythons[first:] + pythons[:first]:
            print(f"round {turn + 1}: {python}", file=sys.stderr, flush=True)
            found[python].append(_measured_by(python, repeats))
    rows = []
    for case in found[pythons[0]][0]["measured"]:
        reference = [each["measured"][case] for each in found[pythons[0]]]
        for python in pythons:
            values = [each["measured"][case] for each in found[python]]
            ratios = [x / y for x, y in zip(values, reference, strict=True)]
            row = {"case": case, **found[python][0]["versions"]}
            row["value"] = quartiles(values)[1]
            rows.append(row | spread("over_first", ratios))
    return rows


def _measured_by(python, repeats):
    words = [python, "-m", _MODULE, "--here", "--repeats", str(repeats)]
    quiet = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        done = subprocess.run(words, capture_output=True, text=True, env=quiet)
    except OSError as error:
        sys.exit(f"benchmarks: {python} does not start: {error.strerror}")
    if done.returncode:
        sys.exit(f"benchmarks: {' '.join(words)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def section(folder):
    """The part of the page of benchmarks that these rows make; empty without any."""
    from agents.system.screen.text import folded
    from benchmarks.measuring.report import rows_of

    rows = rows_of(folder / f"{NAME}.csv")
    if not rows:
        return ""
    words = " ".join([f"python -m {_MODULE}", rows[0]["words"]])
    origin = "{date}, commit {commit}, {processor}, cores: {cores}".format(**rows[0])
    parts = [NOTES, f"`{words}`: {origin}.", as_table(rows)]
    return folded("Speed by TensorFlow version", *parts) + "\n"


def as_table(rows):
    """The rows as a table of Markdown, a column for each version.

    Example:
        >>> own = {"case": "a", "value": 2.0, "over_first_low": 1, "over_first_high": 1}
        >>> own |= {"over_first": 1.0, "python": "3.11.7", "tensorflow": "2.15.1"}
        >>> print(as_table([own]))
        | case | TensorFlow 2.15.1, Python 3.11.7 |
        | --- | --- |
        | a | 2.00 |
    """
    from agents.system.screen.text import as_markdown

    versions = list(dict.fromkeys(_version(row) for row in rows))
    cases = list(dict.fromkeys(row["case"] for row in rows))
    cells = {(row["case"], _version(row)): _cell(row, versions[0]) for row in rows}
    table = [[case, *(cells[case, each] for each in versions)] for case in cases]
    return as_markdown(["case", *versions], table)


def _version(row):
    return f"TensorFlow {row['tensorflow']}, Python {row['python']}"


def _cell(row, first):
    value = float(row["value"])
    text = f"{value:.3g}" if value >= 10 else f"{value:.2f}"
    if _version(row) == first:
        return text
    middle, low, high = (float(row[f"over_first{end}"]) for end in ("", "_low", "_high"))
    return f"{text} ({middle:.2f} [{low:.2f}, {high:.2f}])"


def main(arguments=None):
    parser = argparse.ArgumentParser(f"python -m {_MODULE}", description=NOTES)
    parser.add_argument("pythons", nargs="*", help="interpreters, the reference first")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each")
    parser.add_argument("--repeats", type=int, default=15, help="calls of each case")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    add_folder(parser, f"{NAME}.csv")
    options = parser.parse_args(arguments)
    if options.here:
        print(json.dumps(measure_here(options.repeats)))
        return
    if not options.pythons:
        parser.error("name at least one interpreter, such as .venv/bin/python")
    rows = measure_all(options.pythons, options.rounds, options.repeats)
    print(as_table(rows))
    if options.folder:
        from agents.system.files import write_csv
        from benchmarks.measuring import report

        facts = report.origin(NAME)
        own = {name: facts[name] for name in ("date", "commit", "processor", "cores")}
        own["words"] = f"PYTHON ... --rounds {options.rounds} --repeats {options.repeats}"
        write_csv(pathlib.Path(options.folder) / f"{NAME}.csv", [row | own for row in rows])


if __name__ == "__main__":
    main()
