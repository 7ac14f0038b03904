# Every target makes and reuses .venv by itself.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint format bench clean

demo: .venv/.installed
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python -m pytest

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.installed-bench
	$(BIN)/python benchmarks/kernel_sums.py

.venv/.installed: pyproject.toml requirements-dev.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or later is needed: make PYTHON=python3.11')"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps -e .
	touch $@

.venv/.installed-bench: .venv/.installed requirements-bench.txt
	$(BIN)/python -m pip install --quiet -r requirements-bench.txt
	touch $@

clean:
	rm -rf .venv demo build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
