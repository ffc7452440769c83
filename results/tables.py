"""results/README.md: tables of every experiment that was measured."""

import json

from agents.screen.text import as_markdown

# file of results/ -> command that wrote it
_BENCHMARKS = {"benchmarks": "make bench", "layers": "python -m benchmarks.layers"}


def readme(folder, experiments):
    """The text of README.md.

    Args:
        folder: results/.
        experiments: dict of experiments.yaml; those without a summary are left out.
    """
    parts = [
        "# Results\n\nMade by `python -m results`; no number is typed by hand. A score is "
        "an undiscounted return, at most 1000 on DeepMind Control."
    ]
    for name in experiments:
        file = folder / name / "summary.json"
        if file.exists():
            parts.append(_section(name, json.loads(file.read_text()), folder))
    speed = [name for name in _BENCHMARKS if (folder / f"{name}.md").exists()]
    if speed:
        lines = [f"[{name}.md]({name}.md): `{_BENCHMARKS[name]}`" for name in speed]
        parts.append("## Speed\n\n" + "\n\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _section(name, summary, folder):
    commands = "\n".join(summary["commands"])
    pictures = sorted(
        path.relative_to(folder / name) for path in (folder / name).glob("**/*.png")
    )
    parts = [
        f"## {summary['title']}",
        summary["about"],
        f"```\n{commands}\npython -m results {name}\n```",
        _missing(**summary.get("runs", {})),
        _comparison(folder / name),
        _weights(summary["groups"]),
        _planners(folder / name),
        _sources(summary["sources"]),
        "\n".join(f"![{picture}]({name}/{picture})" for picture in pictures),
    ]
    return "\n\n".join(filter(None, parts))


def _missing(finished=0, of=0):
    return f"So far {finished} of these {of} runs are finished." if finished < of else ""


def _comparison(folder):
    """The tables of `bayes-rl compare`."""
    file = folder / "comparison.md"
    return file.read_text().strip() if file.exists() else ""


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
    return f"{lines}\n\n{as_markdown(head, rows)}"


def _ends(ends):
    return "{:.3g} to {:.3g}".format(*ends) if ends else ""


def _planners(folder):
    """The comparison of planners on the model of one of the runs."""
    file = folder / "planners.csv"
    if not file.exists():
        return ""
    head, *rows = (line.split(",") for line in file.read_text().splitlines())
    conclusion = (folder / "planners.txt").read_text().strip()
    return f"Planners on the model of one run. {conclusion}.\n\n{as_markdown(head, rows)}"


def _sources(sources):
    return "\n".join(
        f"Commit {source['commit']}, {source['processor']}, {source['cores']} cores, "
        f"{source['memory_gib']} GiB."
        for source in sources
    )
