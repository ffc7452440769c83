"""The command `bayes-rl compare RUN...`: groups of runs, with intervals over seeds."""


def compare(runs, out, at):
    """Prints the files of `agents.study.compare.compare`, whose arguments these are."""
    from agents.study import compare as comparison

    for file in comparison.compare(runs, out, at=at):
        print(file)
