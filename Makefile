# Every target makes and reuses .venv by itself. What is never imported need not be compiled: that halves the installation.
PYTHON ?= python3
BIN := .venv/bin
# Tests, and the examples in docstrings, in as many processes as there are cores.
TESTS := -m pytest -n auto --doctest-modules --doctest-ignore-import-errors src tests

.PHONY: demo docs docs-fast test test-all test-floor lint packages format bench clean

demo: .venv/.installed
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python $(TESTS)

test-all: lint
	HYPOTHESIS_PROFILE=thorough $(BIN)/python $(TESTS) -m "slow or not slow"

test-floor: .venv-floor/.installed
	.venv-floor/bin/python $(TESTS) -o filterwarnings=ignore

# The site, in docs/_build/html: warnings are errors, examples are run, links within it lead somewhere, pages fit a phone.
docs: .venv/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/_ext/inner_links.py docs/_build/html
	$(BIN)/python docs/_ext/on_a_phone.py docs/_build/html

# The same without running the examples, an empty picture standing for each figure, and without opening each page.
docs-fast: .venv/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html -D sphinx_gallery_conf.plot_gallery=False docs docs/_build/html
	$(BIN)/python docs/_ext/inner_links.py docs/_build/html

lint: .venv/.installed packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

packages: .venv/.installed
	rm -rf .venv/dist
	$(BIN)/python -m build --no-isolation --outdir .venv/dist > .venv/build.log 2>&1 || { cat .venv/build.log; exit 1; }
	$(BIN)/twine check --strict .venv/dist/*

format: .venv/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.installed-bench
	$(BIN)/python benchmarks/kernel_sums.py

.venv/.installed: pyproject.toml requirements-dev.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or later is needed: make PYTHON=python3.11')"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps -e .
	touch $@

.venv-floor/.installed: pyproject.toml requirements-floor.txt
	$(PYTHON) -m venv .venv-floor
	.venv-floor/bin/python -m pip install --quiet --no-compile -r requirements-floor.txt
	.venv-floor/bin/python -m pip install --quiet --no-build-isolation --no-deps -e .
	touch $@

.venv/.installed-bench: .venv/.installed requirements-bench.txt
	$(BIN)/python -m pip install --quiet --no-compile -r requirements-bench.txt
	touch $@

.venv/.installed-docs: .venv/.installed requirements-docs.txt
	$(BIN)/python -m pip install --quiet --no-compile -r requirements-docs.txt
	touch $@

clean:
	rm -rf docs/_build docs/gallery docs/api/generated .venv .venv-floor demo build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
