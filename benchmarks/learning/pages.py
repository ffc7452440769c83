"""The page of a study: its question and answer, a picture and a table; the rest folded.

results/README.md has what was asked, the answer, and the page with its numbers. `folder` is
that of a study, `study` its entry in experiments.yaml.
"""

import json

from agents.study.compare.report import FEW_NOTE
from agents.system.screen.text import as_markdown, folded
from benchmarks.learning.answers import ONE_NOTE, TABLES, answer, findings, noted, table

SUMMARY = "summary.json"  # in the folder of tables
# pages that are no study; each names the command that wrote it
_OTHERS = ("examples", "benchmarks", "layers", "mesh", "scale", "processes")
_ABOUT = f"""
- No number in a table is typed by hand. The folder of a study has configs.yaml (the values
  that its runs share), runs.csv (a row for each run) and curves.csv.gz (a row for each
  episode). `python -m benchmarks.learning NAME` makes tables/ and the page from them.
- A score is an undiscounted return, at most 1000 on DeepMind Control.
- Brackets are intervals. On pages of studies: the 95 % bootstrap interval over seeds. On
  pages of speed: quartiles. In the examples: Student's 95 % interval.
- Parentheses are the lowest and the highest seed.
- {FEW_NOTE}
- {ONE_NOTE}
- `world_model.observation_stddev=0.15` in a command or a preset was the default at that
  time. Today's default is lower for observations of fewer than 25 numbers.
  [Reward in a narrow band](narrow_reward/README.md) compares the two.
- Each page has its commands, commits and hardware. "+changes" after a commit: the code also
  had changes that are in no commit. On another kind of processor, the same seed may end
  differently.
""".strip()


def page(folder, study):
    """The text of the README.md of a study that has tables."""
    summary = json.loads((folder / TABLES / SUMMARY).read_text())
    shown = shown_pictures(folder, study["pictures"])
    first, *others = [picture(path.name) for path in shown] or [""]
    return joined(
        beginning(folder, study, first, table(folder, study)),
        findings(folder, study),
        how(folder, study, summary, _missing(**summary.get("runs", {}))),
        folded("More pictures", *others),
        _comparison(summary["comparison"]),
        _weights(summary["groups"]),
    )


def joined(*parts):
    """The text of a page, of those of its parts that are not empty."""
    return "\n\n".join(filter(None, parts)) + "\n"


def beginning(folder, study, first, numbers):
    """What a reader in a hurry reads: also the first picture, and the table of numbers."""
    parts = [f"# {study['title']}", study["question"], answer(folder, study)]
    return noted("\n\n".join(filter(None, [*parts, first, numbers])))


def how(folder, study, summary, *more):
    """How the numbers were measured, with further paragraphs, folded.

    `summary` has the `commands` of the study and the `sources` of its runs.
    """
    commands = "\n".join(
        [*summary["commands"], f"python -m benchmarks.learning --pack {folder.name}"]
    )
    parts = [f"```\n{commands}\n```", sources(summary["sources"])]
    if "agent" in study:
        parts.append(
            f"Made with an earlier version of the agent: {study['agent']}. Commands are of "
            "the version at that commit."
        )
    return folded("How it was measured", study["about"], *parts, *more)


def picture(name):
    """A picture in Markdown; who cannot see it reads the words of its name."""
    stem = name.rpartition("/")[2].removesuffix(".png")
    return f"![{stem.replace('_', ' ')}]({name})"


def shown_pictures(folder, patterns):
    """The pictures of a study, in the order of the patterns of their names."""
    found = (path for pattern in patterns for path in sorted(folder.glob(pattern)))
    return list(dict.fromkeys(found))


def _missing(finished=0, of=0):
    return f"So far {finished} of these {of} runs are finished." if finished < of else ""


def _comparison(lines):
    """The tables of `bayes-rl compare`, each folded under the first words of its title."""
    parts = "\n".join(lines).split("\n\n")
    notes = parts.pop() if len(parts) % 2 else ""  # behind pairs of a title and its rows
    tables = zip(parts[::2], parts[1::2], strict=True)
    told = [folded(title.partition(":")[0], title, rows) for title, rows in tables]
    return "\n\n".join(filter(None, [*told, folded("Notes on these tables", notes)]))


def _weights(groups):
    """How the posteriors moved: a row for each group that has one."""
    names = list(dict.fromkeys(name for group in groups for name in group["weights"]))
    rows = [
        [group["task"], group["group"], *(_ends(group["weights"].get(n)) for n in names)]
        for group in groups
        if group["weights"]
    ]
    if not rows:
        return ""
    head = ["task", "group", *(name.replace("weight_", "") for name in names)]
    lines = "The weight posterior, first to last episode (median over seeds):"
    return folded("Posterior over the weights", lines, as_markdown(head, rows))


def _ends(ends):
    return "{:.3g} to {:.3g}".format(*ends) if ends else ""


def sources(sources):
    """The commits of all sessions, a line for each machine."""
    commits = {}
    for source in sources:
        cores = f"{source['cores']} core{'s' * (source['cores'] > 1)}"
        machine = f"{source['processor']}, {cores}, {source['memory_gib']} GiB"
        commits.setdefault(machine, []).append(source["commit"])
    return "\n\n".join(
        f"Commit{'s' * (len(own) > 1)} {', '.join(own)}; {machine}."
        for machine, own in commits.items()
    )


def readme(folder, studies):
    """The text of README.md in results/, of the studies of experiments.yaml."""
    rows = [
        [each["question"], answer(folder / name, each), _link(folder / name, study)]
        for name, study in studies.items()
        for each in (study, *study.get("also", ()))
    ]
    pages = (folder / f"{name}.md" for name in _OTHERS)
    rows += [_row(folder, page) for page in pages if page.exists()]
    table = as_markdown(["question", "answer", "page"], rows)
    return "\n\n".join(["# Results", table, _ABOUT]) + "\n"


def _row(folder, page):
    """The question and the answer at the top of a page, with its title as a link."""
    title, question, found = page.read_text().split("\n\n")[:3]
    name = page.relative_to(folder).as_posix()
    return [question, found, f"[{title.removeprefix('# ')}]({name})"]


def _link(folder, study):
    title = study["title"] + (" (an earlier agent)" if "agent" in study else "")
    page = folder / "README.md"
    return f"[{title}]({folder.name}/{page.name})" if page.exists() else title
