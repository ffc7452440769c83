"""The command `bayes-rl plot RUN...`: the curves of runs."""


def plot(runs, out):
    """Prints the files of `agents.study.figures.run_curves.plot`."""
    from agents.runs.folder import load_config
    from agents.study.figures import run_curves as curves

    for run in runs:
        load_config(run)
    for file in curves.plot(runs, out):
        print(file)
