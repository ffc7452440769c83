"""The long end of `bayes-rl train --help`: every choice and every key, with its unit."""

import shutil
import textwrap

from agents.runs.config import choices

_EXAMPLES = """examples:
  bayes-rl train                                   the default, on a laptop
  bayes-rl train experiment=debug                  nearly all code, in a minute
  bayes-rl train task=walker_walk seed=1 planner.horizon=8       other values
  bayes-rl train -m explore=noise,information_gain seed=0,1      several runs
  bayes-rl train experiment=paper --print-config   the config, without a run

The same command resumes a run; with -m, all runs that have not finished."""


def train_help():
    """The text, read from the YAML files."""
    lines = [_EXAMPLES]
    for group, names in choices.groups().items():
        lines += ["", *_choices(group, names), *_units(group, names)]
    shown = ((group, choices.defaults()[group]) for group in ("world_model", "explore"))
    for file in (("train",), *shown):
        title = f"configs/{'/'.join(file)}.yaml:"
        lines += ["", title, *(f"  {line}".rstrip() for line in choices.read(*file))]
    return "\n".join(lines) + "\n"


def _choices(group, names):
    """Lines: what each choice is, and the keys that come with it."""
    rows = []
    for name in names:
        rows.append((f"{group}={name}", choices.about(group, name)))
        keys = choices.settings(group, name)
        if keys:
            rows.append(("", " ".join(f"{key}={value}" for key, value in keys.items())))
    title = f"{group}=CHOICE" + (
        ", with the values of its keys" if len(rows) > len(names) else ""
    )
    return [f"{title}:", *_columns(rows)]


def _units(group, names):
    """Lines: what the keys mean that come with a choice."""
    keys = sorted({key for name in names for key in choices.settings(group, name)})
    if not keys:
        return []
    rows = []
    for key in keys:
        texts = choices.units(group, key) or [""]
        rows += zip([f"{group}.{key}", *[""] * len(texts)], texts, strict=False)
    return ["", f"{group}.KEY=VALUE, if the choice has the key:", *_columns(rows)]


def _columns(rows):
    """Lines of two columns, the first as wide as it has to be, the second wrapped."""
    width = max(len(first) for first, _ in rows)
    room = max(30, shutil.get_terminal_size().columns - width - 4)
    lines = []
    for first, second in rows:
        parts = textwrap.wrap(second, room, break_on_hyphens=False) or [""]
        lines += [f"  {first:{width}}  {parts[0]}".rstrip()]
        lines += [f"  {'':{width}}  {part}" for part in parts[1:]]
    return lines
