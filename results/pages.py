"""The page of a study: what was asked, done and found, with its tables and pictures."""

import json

from agents.screen.text import as_markdown
from results.answers import outcome


def page(folder, study):
    """The text of the README.md of a study that was measured.

    Args:
        folder: of the study; it has a summary.json.
        study: its entry in experiments.yaml.
    """
    summary = json.loads((folder / "summary.json").read_text())
    commands = "\n".join([*summary["commands"], f"python -m results {folder.name}"])
    pictures = [
        path.relative_to(folder) for path in shown_pictures(folder, study["pictures"])
    ]
    parts = [
        f"# {study['title']}",
        outcome(folder, study),
        study["about"],
        made_by(study),
        sources(summary["sources"]),
        f"```\n{commands}\n```",
        _missing(**summary.get("runs", {})),
        "\n".join(f"![{picture}]({picture})" for picture in pictures),
        _comparison(folder),
        _weights(summary["groups"]),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def made_by(study):
    """Says how the agent of a study differed; nothing of the agent of today."""
    if "agent" not in study:
        return ""
    return (
        f"Made with an earlier version of the agent: {study['agent']}. Commands are of the "
        "version at that commit."
    )


def shown_pictures(folder, patterns):
    """The pictures of a study, in the order of the patterns of their names."""
    found = (path for pattern in patterns for path in sorted(folder.glob(pattern)))
    return list(dict.fromkeys(found))


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


def sources(sources):
    """The commits and machines of all sessions, a line each."""
    return "\n".join(
        f"Commit {source['commit']}, {source['processor']}, {source['cores']} "
        f"core{'s' * (source['cores'] > 1)}, {source['memory_gib']} GiB."
        for source in sources
    )
