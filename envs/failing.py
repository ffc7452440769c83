"""The error of an environment that cannot go on; it imports nothing."""


class EnvironmentFailedError(RuntimeError):
    """An environment cannot go on. Its message, a line, says which and why."""
