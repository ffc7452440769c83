"""What the benchmarks' command lines share."""

import argparse

from benchmarks.measuring.timing import CLOCKS


def make_parser(prog, description):
    """A parser with the options of every benchmark.

    Args:
        prog: the command, for its help.
        description: of the command.

    Returns:
        An `argparse.ArgumentParser`.
    """
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--repeats", type=int, default=15, help="calls of each case")
    parser.add_argument("--threads", type=int, default=0, help="0: all")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--folder", default="results", help="for csv and md; '': none")
    help = "processor: the time of all threads, without that of other processes"
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help=help)
    return parser
