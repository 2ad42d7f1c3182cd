# `make demo` and `make test` do all set-up themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Not all of docs: its pages have code formatted by hand.
CHECKED := src lab tests conftest.py docs/conf.py docs/extensions docs/figures
JOBS ?= 2 # number of processes that run the tests

.PHONY: demo test docs lint format clean

demo: $(STAMP)
	$(BIN)/kmcf demo

test: $(STAMP)
	$(BIN)/python -m pytest -n $(strip $(JOBS)) --dist worksteal

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/extensions/offline.py docs/_build/html

lint: $(STAMP)
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

# All targets share one environment, which is updated when the dependencies change. `particles`, an oracle for the
# tests, is installed without its dependencies, because it pins an older NumPy than its code needs.
$(STAMP): pyproject.toml lab/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	$(BIN)/python -m pip install --quiet --no-deps --editable lab
	$(BIN)/python -m pip install --quiet --no-deps "particles>=0.4"
	touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache demo docs/_build
