# `make demo` and `make test` do all set-up themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := src lab tests docs/gallery conftest.py
JOBS ?= 2 # number of processes that run the tests

.PHONY: demo test lint format gallery clean

demo: $(STAMP)
	$(BIN)/kmcf demo

test: $(STAMP)
	$(BIN)/python -m pytest -n $(strip $(JOBS)) --dist worksteal

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

# All targets share one environment, which is updated when the dependencies change. `particles`, an oracle for the
# tests, is installed without its dependencies, because it pins an older NumPy than its code needs.
$(STAMP): pyproject.toml lab/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	$(BIN)/python -m pip install --quiet --no-deps --editable lab
	$(BIN)/python -m pip install --quiet --no-deps "particles>=0.4"
	touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache demo
