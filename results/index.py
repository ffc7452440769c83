"""results/README.md: what was asked, what was found, and where it stands."""

from agents.compare.report import FEW_NOTE
from agents.screen.text import as_markdown
from results.answers import ONE_NOTE, answer

# file of results/ -> what it shows, and the command that wrote it
_BENCHMARKS = {
    "benchmarks": ("Speed (the whole command on the page)", "make bench ARGS=..."),
    "layers": ("Speed", "python -m benchmarks.layers --folder results"),
    "mesh": ("Weights over devices", "python -m benchmarks.mesh --folder results"),
    "scale": ("Runs of many processes", "python -m benchmarks.scale --folder results"),
    "cheap_environment/scale": (
        "Runs of many processes where little is learned (the whole command on the page)",
        "python -m benchmarks.scale task=fake observation=pixels ...",
    ),
    "examples": ("What the layers are worth", "python -m results.examples_page"),
}
_ABOUT = f"""
Made by `python -m results`; no number of a table is typed by hand. A score is an
undiscounted return, at most 1000 on DeepMind Control. In brackets: the 95 % bootstrap
interval over seeds; in parentheses: the extremes of seeds. Each page has its commands,
commit and hardware; a commit with +changes had edits that no commit holds. On another kind
of processor a seed may end as another seed does.
{FEW_NOTE}
{ONE_NOTE}
""".strip()


def readme(folder, studies):
    """The text of README.md.

    Args:
        folder: results/.
        studies: dict of experiments.yaml.
    """
    rows = [
        [each["question"], answer(folder / name, each), _link(folder / name, study)]
        for name, study in studies.items()
        for each in (study, *study.get("also", ()))
    ]
    benchmarks = [
        f"{what}, [{name}.md]({name}.md): `{command}`"
        for name, (what, command) in _BENCHMARKS.items()
        if (folder / f"{name}.md").exists()
    ]
    parts = [
        "# Results",
        _ABOUT,
        as_markdown(["question", "found", "page"], rows),
        "\n\n".join(benchmarks),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _link(folder, study):
    title = study["title"] + (" (an earlier agent)" if "agent" in study else "")
    page = folder / "README.md"
    return f"[{title}]({folder.name}/{page.name})" if page.exists() else title
