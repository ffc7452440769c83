"""What a user can put right, told in one line."""

import difflib


class UserError(ValueError):
    """A mistake that a user can put right; its message is one line that says how."""


class InUseError(UserError):
    """Another process has what is asked for; once it has ended, the same is right."""


class GoneError(UserError):
    """Processes that a run needs have gone; the same command goes on without a change."""


def nearest(word, choices, least=0.5):
    """The end of an error message: `; did you mean 'flipout'?`, or nothing.

    A number is not misspelt. `least` is a similarity, which is 1 where words are equal.

    Example:
        >>> nearest("flipot", ["deterministic", "flipout"])
        "; did you mean 'flipout'?"
        >>> nearest("xyz", ["deterministic", "flipout"])
        ''
    """
    close = matches(word, choices, least) if isinstance(word, str) else []
    return f"; did you mean {close[0]!r}?" if close else ""


def matches(word, choices, least=0.5):
    """The choice that is most like a word, in a list; empty where none is similar."""
    return difflib.get_close_matches(word, choices, 1, least)
