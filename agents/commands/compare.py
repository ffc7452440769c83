"""The command `bayes-rl compare RUN...`: groups of runs, with intervals over seeds."""


def compare(runs, out):
    """Compares groups of runs and prints the files.

    Args:
        runs: folders of runs, or folders that hold runs.
        out: folder of figures and tables.
    """
    from agents import compare as comparison

    for file in comparison.compare(runs, out):
        print(file)
