"""The command `bayes-rl plot RUN...`: the curves of runs."""


def plot(runs, out):
    """Draws the curves of runs and prints the files.

    Args:
        runs: folders.
        out: folder of the figures, or None.
    """
    from agents.runs.folder import load_config
    from agents.study.figures import run_curves as curves

    for run in runs:
        load_config(run)
    for file in curves.plot(runs, out):
        print(file)
