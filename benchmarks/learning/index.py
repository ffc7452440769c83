"""results/README.md: what was asked, the answer, and the page with its numbers."""

from agents.study.compare.report import FEW_NOTE
from agents.system.screen.text import as_markdown
from benchmarks.learning.answers import ONE_NOTE, answer

# pages that are no study; each names the command that wrote it
_OTHERS = ("examples", "benchmarks", "layers", "mesh", "scale", "cheap_environment/scale")
_ABOUT = f"""
- No number of a table is typed by hand. Of each study, configs.yaml has what its runs
  share, runs.csv a row a run, curves.csv.gz a row an episode. From them
  `python -m benchmarks.learning NAME` makes tables/ and the page.
- A score is an undiscounted return, at most 1000 on DeepMind Control.
- Brackets: the 95 % bootstrap interval over seeds on pages of studies, quartiles on pages
  of speed, Student's 95 % interval in the examples. Parentheses: the lowest and highest
  seed.
- {FEW_NOTE}
- {ONE_NOTE}
- Each page has its commands, commits and hardware. A commit with +changes had edits that no
  commit holds. On another kind of processor a seed may end differently.
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
