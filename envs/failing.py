"""The errors of an environment that cannot go on; it imports nothing."""


class EnvironmentFailedError(RuntimeError):
    """An environment cannot go on. Its message, a line, says which and why."""


class DiedError(EnvironmentFailedError):
    """The process of an environment has ended by itself."""


class EpisodeLostError(EnvironmentFailedError):
    """An episode was lost by no fault of its environment: it counts for no giving up."""


def given_up(failed, error):
    """The error after so many failed episodes in a row, the last of them with `error`."""
    if failed == 1:
        return error
    return EnvironmentFailedError(
        f"{failed} episodes in a row have failed, the last with: {error}"
    )
