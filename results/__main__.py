"""Makes results/ from runs: tables, curves and where they come from.

python -m results                  # all pages, from what was measured
python -m results rare_reward      # a study anew, from its runs; without runs, the commands
python -m results suite            # the suite, from its runs as far as they have come
python -m results --missing suite  # a command for each of its runs that is not finished
"""

import argparse
import pathlib

import yaml

from agents.files import write_text
from results import studies
from results.index import readme
from results.missing import missing
from results.pages import page
from results.suite_page import page as suite_page

_ABOUT = __doc__.splitlines()[0]
_FOLDER = pathlib.Path(__file__).parent


def main(arguments=None):
    known = yaml.safe_load((_FOLDER / "experiments.yaml").read_text())
    parser = argparse.ArgumentParser("python -m results", description=_ABOUT)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument(
        "--missing",
        action="store_true",
        help="print a command for each run that is missing, and do nothing; of the suite "
        "where no NAME is given",
    )
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no study {min(unknown)!r}; there are {', '.join(known)}")
    if options.missing:
        for name in options.names or ["suite"]:
            for command in missing(_FOLDER / name, known[name]):
                print(command)
        return
    try:
        for name in options.names:
            make = suite_page.make if name == "suite" else studies.make
            make(_FOLDER / name, known[name])
    finally:  # what was made stays whole, where a later study has no runs
        _write_pages(known)


def _write_pages(known):
    for name, study in known.items():
        if (_FOLDER / name / "summary.json").exists():
            write_text(_FOLDER / name / "README.md", page(_FOLDER / name, study))
    write_text(_FOLDER / "README.md", readme(_FOLDER, known))


if __name__ == "__main__":
    main()
