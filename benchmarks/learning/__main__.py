"""Makes results/ from runs: tables, curves and where they come from.

python -m benchmarks.learning                  # all pages, from the tables of studies
python -m benchmarks.learning suite            # the study anew, from its packed runs
python -m benchmarks.learning --pack suite     # packs runs of logdir/ first
python -m benchmarks.learning --missing suite  # a command for each run that is missing
python -m benchmarks.learning --migrate suite  # its packed configs in today's form
"""

import argparse
import pathlib

import yaml

from agents.system.files import write_text
from benchmarks.learning import studies
from benchmarks.learning.packing import migrate, pack
from benchmarks.learning.pages import SUMMARY, TABLES, page, readme
from benchmarks.learning.suite import page as suite_page

_ABOUT = __doc__.splitlines()[0]
_FOLDER = pathlib.Path(__file__).parents[2] / "results"


def main(arguments=None):
    known = yaml.safe_load((_FOLDER / "experiments.yaml").read_text())
    parser = argparse.ArgumentParser("python -m benchmarks.learning", description=_ABOUT)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument(
        "--pack",
        action="store_true",
        help="first pack the runs that experiments.yaml names into few files of the study",
    )
    parser.add_argument(
        "--missing",
        action="store_true",
        help="print a command for each run that is missing, and do nothing; of the suite "
        "where no NAME is given",
    )
    parser.add_argument(
        "--migrate",
        action="store_true",
        help="bring the packed configs of earlier versions to today's form, and do nothing "
        "else; of all studies where no NAME is given",
    )
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no study {min(unknown)!r}; there are {', '.join(known)}")
    if options.missing:
        for name in options.names or ["suite"]:
            for command in studies.missing(_FOLDER / name, known[name]):
                print(command)
        return
    if options.migrate:
        _migrate(options.names or known)
        return
    try:
        for name in options.names:
            place = _FOLDER / name, known[name]
            maker = suite_page if name == "suite" else studies
            if options.pack:
                pack(known[name]["runs"], _FOLDER / name)
                maker.take_pictures(*place)
            maker.make(*place)
    finally:  # what was made stays whole, where a later study has no runs
        _write_pages(known)


def _migrate(names):
    from agents.cli.migrate import settled

    for name in names:
        print(f"{name}: {migrate(_FOLDER / name, settled)} runs migrated")


def _write_pages(known):
    for name, study in known.items():
        if (_FOLDER / name / TABLES / SUMMARY).exists():
            write_text(_FOLDER / name / "README.md", page(_FOLDER / name, study))
    write_text(_FOLDER / "README.md", readme(_FOLDER, known))


if __name__ == "__main__":
    main()
