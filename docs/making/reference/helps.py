"""The page of every command's --help, as the terminal shows it."""

import contextlib
import io
import os
import re
from unittest import mock

from agents.cli.parsing import parse

_ABOUT = """# Commands

What each command says with `--help`. Mistakes are answered in one line that names what
would be right, with exit status 2, before anything is written.
"""


def commands():
    """The names of all commands.

    Example:
        >>> commands()[:3]
        ['train', 'learn', 'evaluate']
    """
    listed = _help([]).partition("commands:")[2]
    return re.findall(r"^    (\w+)(?:  |$)", listed, re.MULTILINE)


def page():
    """The text, in Markdown."""
    parts = [_ABOUT, _block([])]
    parts += [f"## {name}\n\n{_block([name])}" for name in commands()]
    return "\n\n".join(parts) + "\n"


def _block(words):
    return f"```text\n$ bayes-rl {' '.join([*words, '--help'])}\n{_help(words)}\n```"


def _help(words):
    """What a command prints, 92 columns wide on every machine."""
    out = io.StringIO()
    width = mock.patch.dict(os.environ, COLUMNS="92")
    with width, contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        parse([*words, "--help"])
    return out.getvalue().rstrip()
