"""Docstrings as they read in a terminal.

Ours hold formulas as indented lines and signs such as * and | in plain text, which
reStructuredText would take for quotes and markup.
"""

import inspect
import re

_SECTION = re.compile(
    r"(Args|Arguments|Attributes|Returns|Raises|Yields|Example|Examples|Note|Notes):$"
)
_PARTS = re.compile(r"(`[^`\n]*`)")
_SIGNS = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")


def readable(lines):
    r"""Marks indented lines of a docstring as literal, and signs as plain.

    They come without their common indentation, and go as lines of reStructuredText with
    Google's sections.

    Example:
        >>> readable(["A sum.", "", "    y = a * b", "", "Of a * b."])
        ['A sum.', '', '.. code-block:: text', '', '    y = a * b', '', 'Of a \\* b.']
    """
    made, inside, literal, doctest = [], False, False, False
    for number, line in enumerate(lines):
        indented = line.startswith(" ")
        if line.strip() and not indented:
            inside, literal = bool(_SECTION.match(line)), False
        after_blank = number > 0 and not lines[number - 1].strip()
        is_deep = line.startswith("    ")  # deeper than the rest of an item of a list
        if indented and not inside and not literal and (after_blank or is_deep):
            made += [""] * (not after_blank) + [".. code-block:: text", ""]
            literal = True
        doctest = line.strip().startswith(">>>") or (doctest and bool(line.strip()))
        made.append(line if literal or doctest else _plain(line))
    return made


def _plain(line):
    """A line whose signs mean nothing, but for code in backticks and marks of a list."""
    mark = re.match(r"\s*[*-] ", line)
    start = mark.end() if mark else 0
    parts = _PARTS.split(line[start:])
    parts[::2] = [_SIGNS.sub(r"\\\1", part) for part in parts[::2]]
    return line[:start] + "".join(parts)


def signature(found):
    """Arguments of a class as its `__init__` has them; Keras' `__new__` hides them.

    Example:
        >>> signature(type("Wheel", (), {"__init__": lambda self, spokes=3: None}))
        '(spokes=3)'
    """
    own = inspect.signature(found.__init__)
    return str(own.replace(parameters=list(own.parameters.values())[1:]))


def _process(app, what, name, found, options, lines):
    lines[:] = readable(lines)


def _sign(app, what, name, found, options, arguments, result):
    is_layer = what == "class" and (arguments or "").startswith("(*args, **kwargs)")
    return (signature(found), result) if is_layer else None


def setup(app):
    """Comes before napoleon, which reads Google's sections."""
    app.connect("autodoc-process-docstring", _process, priority=400)
    app.connect("autodoc-process-signature", _sign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
