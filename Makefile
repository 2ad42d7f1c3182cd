# `make demo` and `make test` do all set-up themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Not all of docs: its pages have code formatted by hand.
SOURCES := src lab tests docs/gallery tools conftest.py docs/conf.py docs/extensions docs/figures
# The extras of which the lowest versions are tested, too: all that users install, but JAX, whose interfaces move.
EXTRAS := plot progress tables cli fast store images tuning nwb distributed report live mqtt mcap
JOBS ?= 2 # number of processes that run the tests

.PHONY: demo test test-slow docs lint format gallery results coverage dist licences release-numbers test-lowest test-newest test-versions clean
# What runs with the oldest dependencies: everything but pages in a browser, JAX, and commands typed.
CORE := tests/numerics tests/kernels tests/embedding tests/herding tests/bayes_rule tests/filter tests/transitions \
	tests/trust tests/store tests/datasets tests/distributed tests/export tests/support tests/tuning tests/baselines \
	tests/adaptation tests/live --ignore=tests/live/test_api.py tests/test_package.py
NUMERICAL := */kmcf/numerics/*,*/kmcf/kernels/*,*/kmcf/herding/*,*/kmcf/embedding/*,*/kmcf/bayes_rule/*

demo: $(STAMP)
	$(BIN)/kmcf demo

test: $(STAMP)
	$(BIN)/python -m pytest -n $(strip $(JOBS)) --dist worksteal -m "not slow"

# Whole studies, long runs, killed processes, the gallery: what takes seconds each.
test-slow: $(STAMP)
	$(BIN)/python -m pytest -n $(strip $(JOBS)) --dist worksteal -m slow

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/extensions/offline.py docs/_build/html

lint: $(STAMP)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

# Runs all scripts of the gallery, which draws their pictures anew, and writes its index.
gallery: $(STAMP)
	$(BIN)/python docs/gallery/write_index.py --run

# Writes the tables of docs/results from the raw numbers beside them.
results: $(STAMP)
	$(BIN)/python -m tools.results

# Branch coverage of the library by its own tests; lines of the numerical core that no test reaches are listed.
coverage: $(STAMP)
	$(BIN)/python -m pytest -n $(strip $(JOBS)) --dist worksteal --cov kmcf --cov-branch --cov-report= tests src
	$(BIN)/python -m coverage report --skip-covered --sort=cover
	$(BIN)/python -m coverage report --show-missing --skip-covered --include='$(NUMERICAL)'

# Builds both distributions (each wheel from its sdist, which tests the sdist, too), installs them into an environment
# that has nothing else, and uses them: first the library with its base dependencies, then everything.
dist: export PYTHONPATH =
dist:
	rm -rf dist build
	$(PYTHON) -m venv build/tools && build/tools/bin/python -m pip install --quiet build
	build/tools/bin/python -m build --outdir dist .
	build/tools/bin/python -m build --outdir dist lab
	$(PYTHON) -m venv build/clean
	build/clean/bin/python -m pip install --quiet dist/kmcf-*.whl
	cd build && clean/bin/python ../tools/smoke.py base
	build/clean/bin/python -m pip install --quiet --find-links dist "$$(ls dist/kmcf-*.whl)[all]" dist/kmcf_lab-*.whl
	cd build && clean/bin/python ../tools/smoke.py full
	ls -l dist

licences: $(STAMP)
	$(BIN)/python tools/licences.py

release-numbers: $(STAMP)
	$(BIN)/python tools/release_numbers.py

test-lowest: export PYTHONPATH =
test-lowest:
	$(PYTHON) -m venv build/lowest
	$(PYTHON) tools/lowest.py $(EXTRAS) > build/lowest.txt
	build/lowest/bin/python -m pip install --quiet --only-binary :all: -r build/lowest.txt pytest pytest-xdist hypothesis \
		httpx zarr
	build/lowest/bin/python -m pip install --quiet --no-deps --editable .
	build/lowest/bin/python -m pytest -n $(strip $(JOBS)) --dist worksteal $(CORE)

test-newest: export PYTHONPATH =
test-newest:
	$(PYTHON) -m venv build/newest
	build/newest/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable ".[dev]"
	build/newest/bin/python -m pip install --quiet --no-deps --editable lab "particles>=0.4"
	build/newest/bin/python -m pytest -n $(strip $(JOBS)) --dist worksteal

# The same tests with the lowest declared and the newest versions of the dependencies.
test-versions: test-lowest test-newest

# All targets share one environment, which is updated when the dependencies change. `particles`, an oracle for the
# tests, is installed without its dependencies, because it pins an older NumPy than its code needs.
$(STAMP): pyproject.toml lab/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	$(BIN)/python -m pip install --quiet --no-deps --editable lab
	$(BIN)/python -m pip install --quiet --no-deps "particles>=0.4"
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist .coverage .mypy_cache .ruff_cache .pytest_cache demo docs/_build
