"""Pages of the public names of `bayes_rl`, each with its docstring."""

import functools
import inspect
import re
import sys
import types

import bayes_rl
import bayes_rl.parallel  # public, but not imported with the layers
from bayes_rl import distributions

# What modules of the top level are about; one that is not here gets its own name.
_TITLES = {
    "conversion": "From a trained network",
    "moped": "From a trained network",
    "programs": "Random variables",
    "weights": "Draws of weights",
}
# What modules without `__all__` import for themselves.
_INTERNAL = ("StochasticLayer", "make_get")


@functools.cache
def public():
    """Dict of dotted name -> object of all that is public and no module."""
    found = {}
    for module in _modules(bayes_rl):
        for name in names_of(module):
            value = getattr(module, name)
            if not isinstance(value, types.ModuleType):
                found[f"{module.__name__}.{name}"] = value
    return found


def names_of(module):
    """The public names of a module: its `__all__`, or else all of ours that it holds."""
    if hasattr(module, "__all__"):
        return module.__all__
    return [name for name, found in vars(module).items() if _is_public(name, found)]


def _is_public(name, found):
    if name.startswith("_") or name in _INTERNAL:
        return False
    ours = (getattr(found, "__module__", None) or "").startswith("bayes_rl")
    is_alias = inspect.isclass(found) and found.__name__ != name
    return name.isupper() or (ours and not is_alias)


def pages():
    """Dict of file -> text, in reStructuredText, with an index of all."""
    groups = {}
    for name, value in public().items():
        groups.setdefault(_page(name, value), []).append(name)
    made = {f"{file}.rst": _text(file, names) for file, names in sorted(groups.items())}
    return made | {"index.rst": _index(sorted(groups))}


def _modules(module):
    yield module
    for name in names_of(module):
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            yield from _modules(value)
    if module is bayes_rl:
        yield bayes_rl.parallel


def _page(name, value):
    """The file of a name: layers by their room, others by their module."""
    module, _, last = name.rpartition(".")
    if module == "bayes_rl" and last in distributions.__all__:
        return "distributions"
    if module == "bayes_rl.layers":
        return "layers_" + value.__module__.split(".")[2]
    if module == "bayes_rl":
        home = getattr(value, "__module__", "bayes_rl.version").split(".")[1]
        if home in bayes_rl.__all__:
            return home
        return "top_" + _TITLES.get(home, home).lower().replace(" ", "_")
    return module.removeprefix("bayes_rl.").replace(".", "_")


def _title(file):
    words = re.sub(r"^(layers|top)_", "", file).replace("_", " ")
    return words[0].upper() + words[1:]


def entry(name, value, members=True):
    """Lines of the directive of one name, where `currentmodule` is its module.

    With `members` the methods of a class get entries as well.
    """
    if inspect.isclass(value):
        return [f".. autoclass:: {name}", *["   :members:"][: int(members)], ""]
    if callable(value):
        return [f".. autofunction:: {name}", ""]
    shown = ["   :value: " + repr(value)] if isinstance(value, str) else []
    return [f".. py:data:: {name}", *shown, ""]


def first_line(thing):
    """What a module or class says of itself first, as reStructuredText."""
    about = (inspect.getdoc(thing) or "").split("\n")[0]
    return re.sub(r"([*|_\\])", r"\\\1", about)


def _text(file, names):
    lines = [_title(file), "=" * len(_title(file)), ""]
    is_of_layers = file.startswith("layers_")
    for module in sorted({name.rpartition(".")[0] for name in names}):
        own = [name for name in names if name.rpartition(".")[0] == module]
        home = file.replace("layers_", "bayes_rl.layers.") if is_of_layers else module
        lines += [first_line(sys.modules[home]), ""]
        lines += [f".. currentmodule:: {module}", ""]
        for name in own:
            last, value = name.rpartition(".")[2], public()[name]
            if file == "distributions" and last != "make_random_variable":
                lines += _random_variable(last, value)
            else:
                lines += entry(last, value, members=not is_of_layers)
    return "\n".join(lines) + "\n"


def _random_variable(name, constructor):
    """TFP's docstrings are Markdown; only their first lines are taken over."""
    parameters = inspect.signature(constructor).parameters.values()
    arguments = [
        each.name if each.default is each.empty else f"{each.name}={_shown(each.default)}"
        for each in parameters
        if each.name != "self"
    ]
    about = (inspect.getdoc(constructor) or "").split("\n\n")[0]
    about = re.sub(r"([*|_\\`])", r"\\\1", " ".join(about.split()))
    call = f"{name}({', '.join([*arguments, 'sample_shape=()', 'value=None'])})"
    return [f".. py:function:: {call}", "", f"   {about}", ""]


def _shown(default):
    """A default of a signature, which has to be read again as Python."""
    text = repr(default)
    return text if re.fullmatch(r"[\w.'()\[\]-]*", text) else "..."


def _index(files):
    layers = [file for file in files if file.startswith("layers_")]
    others = [file for file in files if file not in layers]
    lines = ["Layers and their tools", "=" * 22, ""]
    for title, own in (("Everything but layers", others), ("Layers", layers)):
        lines += [title, "-" * len(title), "", ".. toctree::", "   :maxdepth: 1", ""]
        lines += [*(f"   {file}" for file in own), ""]
    return "\n".join(lines)
