"""Names that nobody knows, and those that were meant."""

import difflib


def did_you_mean(name, known):
    """The end of a message: the nearest of the known names, or nothing.

    Example:
        >>> did_you_mean("kernl", ["kernel", "bias"])
        "; did you mean 'kernel'?"
        >>> did_you_mean("x", ["kernel", "bias"])
        ''
    """
    nearest = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""
