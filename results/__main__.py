"""Makes results/ from runs: tables, curves and where they come from.

python -m results             # all pages, from what was measured
python -m results parity      # a study anew, from its runs; without runs, the commands
python -m results suite       # the suite, from its runs as far as they have come
python -m results --missing   # a command for each of its runs that is not finished
"""

import argparse
import pathlib

import yaml

from agents.files import write_text
from results import studies, suite_page
from results.index import readme
from results.pages import page

_ABOUT = __doc__.splitlines()[0]
_FOLDER = pathlib.Path(__file__).parent


def main(arguments=None):
    known = yaml.safe_load((_FOLDER / "experiments.yaml").read_text())
    parser = argparse.ArgumentParser("python -m results", description=_ABOUT)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument(
        "--missing",
        action="store_true",
        help="print a command for each run of the suite that is missing, and do nothing",
    )
    options = parser.parse_args(arguments)
    if options.missing:
        print(*suite_page.missing(_FOLDER / "suite", known["suite"]), sep="\n")
        return
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no study {min(unknown)!r}; there are {', '.join(known)}")
    for name in options.names:
        make = suite_page.make if name == "suite" else studies.make
        make(_FOLDER / name, known[name])
    for name, study in known.items():
        if (_FOLDER / name / "summary.json").exists():
            write_text(_FOLDER / name / "README.md", page(_FOLDER / name, study))
    write_text(_FOLDER / "README.md", readme(_FOLDER, known))


if __name__ == "__main__":
    main()
