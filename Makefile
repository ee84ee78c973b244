# Everything that a person types. Each target sets up first: it takes a fraction of a second when nothing changed.
PYTHON ?= python3
BIN := .venv/bin
# Every worker would rewrite every test, and every command under test compile all of faultlab, if nothing were kept.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --durations=20 --durations-min=2

.PHONY: help setup run test test-ci test-all lint check format bench bench-gate fidelity fidelity-random lock clean

help:            ## show this
	@grep -E '^[a-z-]+: .*##' Makefile | sed -E 's/: .*## /\t/' | expand -t 16

setup:           ## set everything up in .venv
	@$(PYTHON) tools/set_up.py

run: setup       ## run the bundled scenarios and write the report
	@$(BIN)/faultlab run --cells auto --report

# Tests that compute share the two cores; tests in cells wait, so many run side by side.
test: setup      ## the tests, without those that take long
	$(PYTEST) -q -n 2 --dist loadgroup -m "not cell and not slow and not ci"
	$(PYTEST) -q -n 4 -m "cell and not slow and not ci"

test-ci: setup   ## what CI runs: whole programs, Spark, a browser and many drawn examples, too
	$(PYTEST) -q -n 2 --dist loadgroup -m "not cell and not slow"
	$(PYTEST) -q -n 4 -m "cell and not slow"

# The slow tests mostly wait for one Java after the other: cells wait beside them.
test-all: setup  ## the slow tests too
	$(PYTEST) -q -n 2 --dist loadgroup -m "not cell and not slow"
	$(PYTEST) -q -n 6 --dist loadgroup -m "cell or slow"

lint: setup      ## lint, types, dependency rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint      ## the same, and the documentation
	$(PYTEST) -q tests/docs

format: setup    ## put the code into its form
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: setup     ## print the lab's own figures
	$(BIN)/python -m bench

fidelity: setup  ## compare profiles with the real clients; writes docs/FIDELITY.md
	@$(BIN)/faultlab clients build
	@$(BIN)/faultlab agree scenarios --tag sarama --tag kafka-go --tag slow --between profile,real,sim --write docs/FIDELITY.md --report

fidelity-random: setup ## the same in 100 scenarios drawn by chance [CLIENT=sarama|kafka-go] [SEED=]
	@$(BIN)/faultlab clients build
	@$(BIN)/python -m tools.fidelity_random --client $(or $(CLIENT),sarama) $(if $(SEED),--seed $(SEED))

bench-gate: setup  ## how often the gate is wrong: false alarms and missed slow-downs
	@$(BIN)/python bench/gate_errors.py

# Needs uv (pip install uv). Names no host: an index is the installer's own setting.
lock:            ## write constraints.txt anew
	uv pip compile pyproject.toml --extra report --extra test --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate --quiet -o constraints.txt

clean:           ## remove .venv and results
	rm -rf .venv results build *.egg-info .set-up.log .set-up.lock
