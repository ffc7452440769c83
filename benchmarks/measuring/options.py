"""What the benchmarks' command lines share."""

import argparse

from benchmarks.measuring.timing import CLOCKS


def make_parser(prog, description):
    """An `argparse.ArgumentParser` with the options of every benchmark."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--repeats", type=int, default=15, help="calls of each case")
    parser.add_argument("--threads", type=int, default=0, help="0: all")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    add_folder(parser, "csv and md")
    help = "processor: the time of all threads, without that of other processes"
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help=help)
    return parser


def add_folder(parser, files):
    """Adds where to write, by default nowhere, and to make the page there anew."""
    parser.add_argument("--folder", help=f"for {files}, such as results; default: none")
    help = "measure nothing: make the page in results, or --folder, from the file beside it"
    parser.add_argument("--page", action="store_true", help=help)


def use_threads(count):
    """Lets TensorFlow use so many threads, within an operation and beside each other.

    As many as there are cores where it is 0.
    """
    import tensorflow as tf

    if count:
        tf.config.threading.set_intra_op_parallelism_threads(count)
        tf.config.threading.set_inter_op_parallelism_threads(count)
