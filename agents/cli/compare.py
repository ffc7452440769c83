"""The command `bayes-rl compare RUN...`: groups of runs, with intervals over seeds."""


def compare(runs, out, at):
    """Compares groups of runs and prints the files.

    Args:
        runs: folders of runs, or folders that hold runs.
        out: folder of figures and tables.
        at: environment steps at which runs are compared, or None.
    """
    from agents.study import compare as comparison

    for file in comparison.compare(runs, out, at=at):
        print(file)
