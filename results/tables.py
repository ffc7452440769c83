"""results/README.md: tables of every experiment that was measured."""

import json
import statistics


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
    benchmarks = sorted(path.name for path in folder.glob("benchmark*.md"))
    if benchmarks:
        links = ", ".join(f"[{name}]({name})" for name in benchmarks)
        parts.append(f"## Speed\n\n`make bench` wrote {links}.")
    return "\n\n".join(parts) + "\n"


def _section(name, summary, folder):
    commands = "\n".join(summary["commands"])
    pictures = sorted(path.name for path in (folder / name).glob("*.png"))
    return "\n\n".join(
        [
            f"## {summary['title']}",
            summary["about"],
            f"```\n{commands}\npython -m results {name}\n```",
            _scores(summary["groups"]),
            _weights(summary["groups"]),
            _planners(folder / name),
            _sources(summary["sources"]),
            "\n".join(f"![{picture}]({name}/{picture})" for picture in pictures),
        ]
    )


def _scores(groups):
    rows = [
        [
            group["task"],
            group["observation"],
            group["transition"],
            f"{group['environment_steps']:,}",
            len(group["returns"]),
            f"**{statistics.median(group['returns']):.0f}**",
            ", ".join(f"{value:.0f}" for value in group["returns"]),
            f"{statistics.median(group['minutes']):.1f}",
        ]
        for group in sorted(groups, key=lambda group: (group["task"], group["transition"]))
    ]
    head = ["task", "observation", "transition", "environment steps", "seeds"]
    head += ["median", "each seed", "minutes a seed, start-up aside"]
    return _table(head, rows)


def _weights(groups):
    """How the posterior moved: first and last values, medians over seeds."""
    rows = [
        [group["task"], group["transition"], name, f"{first:.4g}", f"{last:.4g}"]
        for group in sorted(groups, key=lambda group: (group["task"], group["transition"]))
        for name, (first, last) in group["weights"].items()
    ]
    if not rows:
        return ""
    lines = (
        "The weight posterior, at the first and at the last episode (median over seeds):"
    )
    head = ["task", "transition", "statistic", "first", "last"]
    return f"{lines}\n\n{_table(head, rows)}"


def _planners(folder):
    """The comparison of planners on the model of one of the runs."""
    file = folder / "planners.csv"
    if not file.exists():
        return ""
    head, *rows = (line.split(",") for line in file.read_text().splitlines())
    conclusion = (folder / "planners.txt").read_text().strip()
    return f"Planners on the model of one run. {conclusion}.\n\n{_table(head, rows)}"


def _sources(sources):
    return "\n".join(
        f"Commit {source['commit']}, {source['processor']}, {source['cores']} cores, "
        f"{source['memory_gib']} GiB."
        for source in sources
    )


def _table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
