# Two commands: `make demo` and `make test`. Each sets everything up by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2 # processes that share the tests

.PHONY: demo test lint format clean

demo: $(STAMP)
	$(BIN)/kmcf demo

test: $(STAMP)
	$(BIN)/python -m pytest -n $(strip $(JOBS)) --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff check src lab tests conftest.py
	$(BIN)/ruff format --check src lab tests conftest.py
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix src lab tests conftest.py
	$(BIN)/ruff format src lab tests conftest.py

# One environment serves all targets; it is rebuilt when the dependencies change.
$(STAMP): pyproject.toml lab/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	$(BIN)/python -m pip install --quiet --no-deps --editable lab
	$(BIN)/python -m pip install --quiet --no-deps "particles>=0.4" # a test oracle; its pin of NumPy is older than its code
	touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache demo
