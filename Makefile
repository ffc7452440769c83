# ARGS goes to the command: make train ARGS="task=walker_walk seed=1"
ARGS ?=
PYTHON ?=
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Compiling the same graphs in more processes than this is slower on a laptop.
WORKERS ?= 2
# Tests that stand together share what they are prepared with.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help train test slow check bench docs docs-test docs-serve release

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

train: .venv/installed  ## train the default in .venv; ARGS="task=... seed=..."
	@$(BIN)/bayes-rl train $(ARGS)

test: .venv/installed-dev  ## all quick tests; ARGS="tests/agents -k name"
	$(PYTEST) -m "not slow" --durations=20 --durations-min=4 $(ARGS)

slow: .venv/installed-dev  ## the tests that take minutes
	$(PYTEST) -m slow $(ARGS)

check: .venv/installed-dev  ## style, imports and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/codespell

release: .venv/installed-dev  ## sdist and wheel in dist/, tried in an empty environment
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation >/dev/null
	@.ci/try-wheel dist/*.whl

bench: .venv/installed-dev  ## speed, as ratios measured in one run
	$(BIN)/python -m benchmarks $(ARGS)

docs: .venv-docs/installed  ## build the site in docs/_build/html; pages run where they changed
	@.venv-docs/bin/python -m docs.running
	@.venv-docs/bin/python -m sphinx -q --fail-on-warning --keep-going -b html \
	  -d docs/_build/doctrees docs docs/_build/html $(ARGS)
	@.venv-docs/bin/python -m docs.links docs/_build/html

docs-test: docs  ## the site in a browser: films, search, errors, width on a phone
	@.venv-docs/bin/python -m docs.browser docs/_build/html

docs-serve: docs  ## the site at http://localhost:8000
	@.venv-docs/bin/python -m http.server --bind 127.0.0.1 --directory docs/_build/html 8000

.venv/python:
	@set -e; for python in $(PYTHON) python3.11 python3; do \
	  if "$$python" -c 'import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, 11))' \
	      2>/dev/null; then \
	    "$$python" -m venv --clear .venv; touch $@; exit 0; \
	  fi; \
	done; \
	echo "Python 3.11 with ensurepip is needed, and neither python3.11 nor python3 is that." >&2; \
	echo "Debian, Ubuntu: apt install python3.11-venv. Elsewhere: uv python install 3.11, or" >&2; \
	echo "pyenv install 3.11. Or say where it is: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; \
	exit 1

.venv/installed: requirements.txt setup.py | .venv/python
	@echo "Installing requirements.txt into .venv; this takes some minutes." >&2
	@$(PIP) install -r requirements.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -c 'from ctypes.util import find_library as find; import sys; \
	  find("EGL") or find("OSMesa") or print("No EGL or OSMesa library: pixels and videos " \
	  "need one (Debian, Ubuntu: apt install libegl1, or libosmesa6); states do not.", \
	  file=sys.stderr)'
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@$(PIP) install -r requirements-dev.txt
	@touch $@

# The site has an environment of its own: its tools need other versions than ours do.
.venv-docs/installed: requirements-docs.txt requirements.txt setup.py | .venv/python
	@echo "Installing requirements-docs.txt into .venv-docs; this takes some minutes." >&2
	@.venv/bin/python -m venv --clear .venv-docs
	@set -e; for some in "-r requirements.txt" "-r requirements-docs.txt" \
	    "--no-build-isolation --editable ."; do \
	  .venv-docs/bin/python -m pip --disable-pip-version-check --quiet install --no-deps \
	    --no-compile $$some; \
	done
	@touch $@
