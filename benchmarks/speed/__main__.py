"""Speed and memory of the train step and of the planner, against the machine's limit."""

import itertools
import os
import sys
import time

from agents.system.errors import UserError
from benchmarks.measuring.options import make_parser, use_threads
from benchmarks.measuring.timing import CLOCKS, measure, quartiles, spread

SHOWN = ("group", "case", "milliseconds", "GFLOP/s", "share of peak")
SHOWN += ("time over reference",)


def answer(rows, facts):
    """How long the default takes, in a sentence."""
    cases = {(row["group"], row["case"]): row for row in rows}
    train = cases.get(("train step, cpu size", "laplace"))
    decide = cases.get(("decision, cpu size", "icem"))
    if not (train and decide):
        return ""
    threads = facts["threads"]
    used = int(facts["cores"] if threads == "all" else threads)
    cores = f"{used} core{'s' * (used > 1)}"
    return (
        f"On {cores} of {facts['processor']}, a training step of the default takes "
        f"{train['milliseconds']:.1f} ms and a decision {decide['milliseconds']:.1f} ms. "
        f"With its posterior, a training step takes {train['over_reference']:.2f} times as "
        "long as without one."
    )


def is_shown(row):
    """Whether a row is of training and planning on a CPU, or of what a source costs."""
    groups = ("train step", "decision", "information gain")
    return row["group"] in [f"{group}, cpu size" for group in groups]


def make_report():
    from benchmarks.measuring import report
    from benchmarks.speed import tensorflows, versions

    title = "Speed of training and planning"
    question = "How long do a training step and a decision take?"
    words = (title, question, answer, is_shown, SHOWN, report.NOTES, report.COLUMNS)
    also = (tensorflows.section, versions.section)
    return report.Report("benchmarks", *words, also=also)


def main(arguments=None):
    options = _parse(arguments)
    if options.page:
        make_report().remake(options.folder)
        return
    try:
        _measure(options, arguments or sys.argv[1:])
    except UserError as error:
        sys.exit(f"benchmarks: {error}")


def _measure(options, arguments):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from envs.quiet import import_gym

    import_gym()
    from benchmarks.speed.cases import all_cases

    use_threads(options.threads)
    every = all_cases(options.words)
    chosen = [case for case in every if options.only in f"{case.group}, {case.name}"]
    if not chosen:
        sys.exit(f"no case has {options.only!r} in its name")
    rows = run(chosen, options.repeats, options.memory, CLOCKS[options.clock])
    command = " ".join(["python -m benchmarks.speed", *arguments])
    facts = {"threads": options.threads or "all", "clock": options.clock}
    facts["load"] = f"{os.getloadavg()[0]:.1f}"
    make_report().show(rows, command, options.folder, **facts)


def run(cases, repeats, with_memory=True, clock=time.perf_counter):
    """Rows of the matrix products of each type, then of cases; groups stand together.

    Memory starts a process for each case.
    """
    from benchmarks.measuring import memory, peak
    from benchmarks.speed.cases import ACTION_SIZE, OBSERVATION_SIZE

    types = sorted({case.config.compute_dtype for case in cases}, reverse=True)
    sizes = OBSERVATION_SIZE, ACTION_SIZE
    found = {x for case in cases for x in peak.shapes(case.config, *sizes)}
    products = sorted({*peak.SQUARES, *found})
    peaks = {}
    for dtype in types:
        speeds = peak.matrix_speeds(products, dtype, clock)
        best = max(speeds, key=speeds.get)
        peaks[dtype] = (speeds[best], best)
    seconds, of_products = {}, {}
    for group, members in itertools.groupby(cases, key=lambda case: case.group):
        members = list(members)
        print(group, file=sys.stderr, flush=True)
        functions = {case: case.make() for case in members}
        functions |= {x: peak.make_products(peaks[x][1], x) for x in types}
        measured = measure(functions, repeats, clock=clock)
        of_products |= {case: measured[case.config.compute_dtype] for case in members}
        seconds |= {case: measured[case] for case in members}
    rows = [_peak_row(dtype, *peaks[dtype]) for dtype in types]
    if with_memory:
        print("memory", file=sys.stderr, flush=True)
        rows.append(_row("process", "imports alone", "", memory_mib=memory.peak_of(None)))
    for case in cases:
        product = peaks[case.config.compute_dtype][1]
        speeds = peak.flops(product) / of_products[case]
        megabytes = memory.peak_of(case) if with_memory else None
        rows.append(_case_row(case, seconds, speeds, megabytes))
    return rows


def _case_row(case, seconds, product_speeds, megabytes):
    ratios = {}
    for other in seconds:
        if (other.group, other.name) == (case.group, case.reference):
            ratios = spread("over_reference", seconds[case] / seconds[other])
    times = spread("milliseconds", 1e3 * seconds[case])
    return _row(
        case.group,
        case.name,
        case.config.compute_dtype,
        **times,
        gflop=case.flops / 1e9,
        gflop_per_second=case.flops / times["milliseconds"] / 1e6,
        share_of_peak=quartiles(case.flops / seconds[case] / product_speeds)[1],
        **ratios,
        memory_mib=megabytes,
    )


def _peak_row(dtype, speed, product):
    rows, inputs, units = product
    name = f"{rows} x {inputs} x {units}"
    gflop = 2 * rows * inputs * units / 1e9
    return _row(
        "best matrix product",
        name,
        dtype,
        milliseconds=gflop / speed * 1e12,
        gflop=gflop,
        gflop_per_second=speed / 1e9,
        share_of_peak=1.0,
    )


_COLUMNS = ("milliseconds", "milliseconds_low", "milliseconds_high")
_COLUMNS += ("gflop", "gflop_per_second", "share_of_peak")
_COLUMNS += ("over_reference", "over_reference_low", "over_reference_high", "memory_mib")


def _row(group, case, compute, **values):
    empty = dict.fromkeys(_COLUMNS)
    return {"group": group, "case": case, "compute": compute, **empty, **values}


def _parse(arguments):
    parser = make_parser("python -m benchmarks.speed", __doc__.splitlines()[0])
    parser.add_argument(
        "--no-memory", dest="memory", action="store_false", help="skip peak memory"
    )
    parser.add_argument("words", nargs="*", help="key=value of the config of every case")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
