# ARGS goes to the command: make train ARGS="task=walker_walk seed=1"
ARGS ?=
# Another environment by another Python: make test VENV=.venv-3.12 PYTHON=python3.12
PYTHON ?=
VENV ?= .venv
BIN := $(VENV)/bin
VERSION = $$($(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
LOCK = -r requirements/python$(VERSION).txt
# Compiling the same graphs in more processes than this is slower on a laptop.
WORKERS ?= 2
# Tests that stand together share what they are prepared with.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
CORE := tests/bayes_rl/compatibility tests/bayes_rl/layers tests/bayes_rl/weights \
  tests/agents/planet/model tests/agents/planet/planning tests/agents/planet/agent \
  tests/envs/simulations/test_rendering.py

.DEFAULT_GOAL := help
.PHONY: help train runs test slow long mutations other check bench docs docs-test docs-serve release

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

train: $(VENV)/installed  ## train the default in .venv; ARGS="task=... seed=..."
	@$(BIN)/bayes-rl train $(ARGS)

runs: $(VENV)/installed  ## three trained runs to start from, in logdir/start, in minutes
	@$(BIN)/bayes-rl train -m --jobs 2 task=cartpole_swingup,reacher_easy \
	  environment_steps=20_000 'logdir=logdir/start/$${task}'
	@$(BIN)/bayes-rl train experiment=discrete_actions logdir=logdir/start/cart_pole

test: $(VENV)/installed-dev  ## all quick tests; ARGS="tests/agents -k name"
	$(PYTEST) -m "not slow and not long" --durations=20 --durations-min=4 $(ARGS)

# In parts, for TensorFlow keeps what a process has traced: 16 GiB at the end of all. A part
# may have none of a few tests that ARGS choose, so those are run at once.
PARTS ?= $(if $(ARGS),all,1 2 3 4)
SPLIT = --splits 4 --splitting-algorithm least_duration --group
slow: $(VENV)/installed-dev  ## tests of seconds; PARTS=2 runs the second of four parts
	for part in $(PARTS); do \
	  $(PYTEST) -m slow $$([ $$part = all ] || echo $(SPLIT) $$part) $(ARGS) || exit; done

long: $(VENV)/installed-dev  ## tests of minutes: a run of several processes under sixty kills
	$(PYTEST) -m long $(ARGS)

mutations: $(VENV)/installed-dev  ## whether tests fail where single lines are wrong
	$(BIN)/python -m tests.mutations $(ARGS)

check: $(VENV)/installed-dev  ## style, imports and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/codespell

other: $(VENV)/python  ## quick tests of layers and agent by another Python than .venv has
	@NOT=$(VERSION) $(MAKE) test VENV=.venv-other ARGS="$(CORE) $(ARGS)"

release: $(VENV)/installed-dev  ## sdist and wheel in dist/, tried on two Pythons
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation >/dev/null
	@.ci/try-wheel dist/*.whl $(BIN)/python
	-@NOT=$(VERSION) $(MAKE) --silent VENV=.venv-other .venv-other/python
	@test ! -e .venv-other/python || .ci/try-wheel dist/*.whl .venv-other/bin/python

bench: $(VENV)/installed-dev  ## speed, as ratios measured in one run
	$(BIN)/python -m benchmarks.speed $(ARGS)

docs: .venv-docs/installed  ## build the site in docs/_build/html; pages run where they changed
	@.venv-docs/bin/python -m docs.running
	@.venv-docs/bin/python -m sphinx -q --fail-on-warning --keep-going -b html \
	  -d docs/_build/doctrees docs docs/_build/html $(ARGS)
	@.venv-docs/bin/python -m docs.links docs/_build/html

docs-test: docs  ## the site in a browser: films, search, errors, width on a phone
	@.venv-docs/bin/python -m docs.browser docs/_build/html

docs-serve: docs  ## the site at http://localhost:8000
	@.venv-docs/bin/python -m http.server --bind 127.0.0.1 --directory docs/_build/html 8000

$(VENV)/python:
	@requirements/choose-python $(VENV) $(PYTHON)
	@touch $@

$(VENV)/installed: $(wildcard requirements/*.txt) setup.py | $(VENV)/python
	@echo "Installing requirements/ into $(VENV); this takes some minutes." >&2
	@$(PIP) install --no-deps $(LOCK)
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -c 'from ctypes.util import find_library as find; import sys; \
	  find("EGL") or find("OSMesa") or print("No EGL or OSMesa library: pixels and videos " \
	  "need one (Debian, Ubuntu: apt install libegl1, or libosmesa6); states do not.", \
	  file=sys.stderr)'
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@$(PIP) install --no-deps -r requirements/dev.txt
	@touch $@

# The site has an environment of its own: its tools need other versions than ours do.
.venv-docs/installed: $(wildcard requirements/*.txt) setup.py | $(VENV)/python
	@echo "Installing requirements/docs.txt into .venv-docs; this takes some minutes." >&2
	@$(BIN)/python -m venv --clear .venv-docs
	@set -e; for some in "$(LOCK)" "-r requirements/docs.txt" \
	    "--no-build-isolation --editable ."; do \
	  .venv-docs/bin/python -m pip --disable-pip-version-check --quiet install --no-deps \
	    --no-compile $$some; \
	done
	@touch $@
