# Everything a newcomer needs: `make demo` shows it working, `make quick` checks the core in a minute,
# `make test` all that a change can break, `make slow` what takes long.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo quick test slow sample bounds lint types layers docs unit coverage bench results dist clean help

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/'

# One stamp per kind of install: a second call with unchanged requirements installs nothing.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "discreet needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.user: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cli,report]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[accounting,cluster,service,dev]'
	@touch $@ $(VENV)/.user

demo: $(VENV)/.user ## install and run the main job
	$(BIN)/discreet demo

quick: $(VENV)/.dev ## lint, and the tests that need no other process, browser or database: under a minute
	$(BIN)/ruff check .
	$(BIN)/pytest -n 2 --dist worksteal -q -m "not (process or browser or postgres or docs or seconds or slow)"

test: lint types layers docs unit ## lint, types, layers, documentation, tests and doctests: a few minutes

slow: $(VENV)/.dev ## the tests that take long: large audits, wheels, all code of the documentation, long kills, array bounds
	$(BIN)/pytest -n 2 --dist worksteal -m slow
	$(MAKE) bounds

sample: $(VENV)/.dev ## the part of `make slow` that continuous integration runs
	$(BIN)/pytest -n 2 --dist worksteal -m sample

# Compiled code does not look whether an index is within its array; here it does. It is compiled into a folder of its own.
bounds: $(VENV)/.dev ## the tests of compiled code, with numba's bounds checking
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$$folder \
		$(BIN)/pytest -n 2 --dist worksteal -m "not (process or browser or postgres or docs or slow)" \
		tests/kernel tests/learners tests/paper tests/policies tests/prefix_sums tests/simulation tests/baselines tests/environments

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

docs: $(VENV)/.dev ## build the documentation into site/
	$(BIN)/zensical build --strict --clean

unit: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist worksteal

coverage: $(VENV)/.dev ## the tests again, with the lines of src that none of them reaches
	$(BIN)/pytest -n 2 --dist worksteal --cov --cov-report=term

bench: $(VENV)/.dev ## run the benchmarks, print one table of ratios
	$(BIN)/python -m benchmarks

# A missed figure does not stop the rest. The published algorithms fail their audits, as they should: in a pipe the
# last command decides.
results: $(VENV)/.dev ## measure everything again, into the tables of docs/; wants an idle machine
	-$(BIN)/python -m benchmarks --into docs/results.md
	$(BIN)/python -m benchmarks.rounds_to_learn | $(BIN)/python -m benchmarks.pages docs/choosing.md rounds
	$(BIN)/python -m examples.theorems --out theorems | $(BIN)/python -m benchmarks.pages docs/theorems.md exponents
	cp theorems/theorems.svg docs/theorems.svg
	$(BIN)/discreet audit --markdown --runs 500000 --seed 1 --plot docs/audit.svg \
		| $(BIN)/python -m benchmarks.pages docs/audit.md shipped
	$(BIN)/discreet audit --markdown --runs 500000 --seed 1 paper-bandit-published paper-tbap-published \
		| $(BIN)/python -m benchmarks.pages docs/audit.md published
	$(BIN)/python -m examples.errata.e1_bandit_privacy | grep '^|' \
		| $(BIN)/python -m benchmarks.pages docs/errata.md e1_bandit_privacy
	$(BIN)/python -m examples.errata.e2_full_information_tuning | grep '^|' \
		| $(BIN)/python -m benchmarks.pages docs/errata.md e2_full_information_tuning
	$(BIN)/python -m examples.errata.e3_neighbours | grep '^|' \
		| $(BIN)/python -m benchmarks.pages docs/errata.md e3_neighbours
	$(BIN)/python -m examples.errata.e8_any_lipschitz_bound | grep '^|' \
		| $(BIN)/python -m benchmarks.pages docs/errata.md e8_any_lipschitz_bound
	{ echo '```text'; $(BIN)/discreet demo --quiet | sed -n '/% of best/,/^random set/p'; echo '```'; } \
		| $(BIN)/python -m benchmarks.pages README.md demo
	$(BIN)/python -m benchmarks.earned_picture docs/pictures/earned.svg

dist: $(VENV)/.dev ## build the source archive, the wheel and that of the clients into dist/
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --wheel --outdir dist clients/python
	@grep -q '^Repository' pyproject.toml || echo "Note: [project.urls] has no Repository, so the index will show the README without links and its picture."

clean: ## remove the environment and every cache
	rm -rf $(VENV) build dist site .coverage htmlcov .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
