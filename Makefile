# One set of commands for a laptop and for CI: .ci/run calls these targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help

# Tests and drills start the command hundreds of times. Where the environment forbids bytecode, as
# in many containers, each of them, and each test process, would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

.PHONY: install
install: $(STAMP) ## Make .venv with the davylamp command in it (pinned, hash-checked)

$(STAMP): requirements/torch.txt requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "davylamp needs Python 3.11 or newer: make install PYTHON=python3.12" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "python's venv module is missing: apt-get install python3-venv" >&2; exit 2; }
	$(PIP) install --quiet -r requirements/torch.txt
	$(PIP) install --quiet --no-deps --require-hashes -r requirements/dev.txt
	$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $(STAMP)

.PHONY: demo
demo: install ## The incident in a minute: what HTTP says and what the answers say
	$(BIN)/davylamp demo

.PHONY: test
test: install ## All tests but those of test-ends, test-dashboards, test-real and test-store, in about twenty-five minutes on two cores
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: test-real
test-real: install ## Build llama-server once, serve a small model, run davylamp check against it
	$(BIN)/python -m tests.real_model.llama build
	$(BIN)/python -m pytest -q --override-ini addopts="--strict-markers --strict-config --import-mode=importlib -ra" tests/real_model

.PHONY: test-store
test-store: install ## The store while processes die, disks fill up and databases go away (a quarter of an hour)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --override-ini addopts="--strict-markers --strict-config --import-mode=importlib -ra" tests/store_faults

.PHONY: test-ends
test-ends: install ## Faults, the daemon and whoever it tells, from end to end (six minutes; needs prometheus-alertmanager)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --override-ini addopts="--strict-markers --strict-config --import-mode=importlib -ra" tests/end_to_end

.PHONY: test-dashboards
test-dashboards: install ## Every panel against hours of history, a real Prometheus and the store (four minutes; needs prometheus)
	$(BIN)/python -m pytest -q --override-ini addopts="--strict-markers --strict-config --import-mode=importlib -ra" tests/dashboards

.PHONY: report-pictures
report-pictures: install ## Make pictures of a weekly report of the tests' history, for the docs (two minutes; needs chromium)
	$(BIN)/python -m tests.integration.weekly_pictures --out docs/pictures

.PHONY: dashboard-pictures
dashboard-pictures: install ## Draw the main dashboards from a lab run, for the docs (four minutes; needs prometheus)
	$(BIN)/python -m tests.dashboards.pictures --out docs/pictures

.PHONY: dashboard-schema
dashboard-schema: install ## Make the schema of dashboards anew, of Grafana's own types (needs npm)
	$(BIN)/python scripts/grafana_schema.py

.PHONY: coverage
coverage: install ## Tests with branch coverage
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report

.PHONY: lint
lint: install ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: format
format: install ## Let ruff mend what it can
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

.PHONY: types
types: install ## mypy, strict
	$(BIN)/mypy

.PHONY: imports
imports: install ## Imports run one way; the lab and the product share nothing
	$(BIN)/lint-imports --no-logo

.PHONY: licences
licences: install ## List the licences of everything installed; refuse what Apache-2.0 cannot ship with
	$(BIN)/python scripts/licences.py

.PHONY: audit
audit: install ## Known vulnerabilities of the pinned dependencies, where the data can be reached
	$(BIN)/python scripts/audit.py

.PHONY: rules-test
rules-test: ## Check the rules and try each (apt-get install prometheus prometheus-alertmanager)
	@command -v promtool >/dev/null || { echo "promtool is missing: apt-get install prometheus" >&2; exit 2; }
	@command -v amtool >/dev/null || { echo "amtool is missing: apt-get install prometheus-alertmanager" >&2; exit 2; }
	promtool check rules alerts/rules/*.yml
	promtool test rules alerts/tests/*.yml
	amtool check-config alerts/alertmanager/alertmanager.example.yml

.PHONY: bench-canaries
bench-canaries: install ## False LEAKs, false hints and scanning speed against the number of live markers (minutes)
	$(BIN)/python -m tests.bench.canaries

.PHONY: bench-schedule
bench-schedule: install ## Schedule lag of 200 exchanges at once, and the memory of 1,000 idle targets
	$(BIN)/python -m tests.bench.schedule

.PHONY: bench-checks
bench-checks: install ## True and false positives of every check beside the naive way; throughput (minutes)
	$(BIN)/python -m tests.bench.checks --out docs/checks-measured.md

.PHONY: bench-detect
bench-detect: install ## False alarms of detectors against their bound, and time to page beside other rules (minutes)
	$(BIN)/python -m tests.bench.detect --out docs

.PHONY: bench-clean
bench-clean: install ## False alarms of all checks on thousands of clean answers of healthy labs (half an hour)
	$(BIN)/python -m tests.bench.clean

.PHONY: bench-nodes
bench-nodes: install ## Reading 200 nodes side by side, beside reading them one after the other
	$(BIN)/python -m tests.bench.nodes

.PHONY: bench-acceptance
bench-acceptance: install ## How often healthy acceptance of a draft is an alarm, in 100 node-months (minutes)
	$(BIN)/python -m tests.bench.acceptance

.PHONY: bench-store
bench-store: install ## What the store takes, how fast, and how soon panels answer (15 minutes; SIZES=1e7 40 minutes, 1e8 hours and 25 GB of disk)
	$(BIN)/python -m tests.bench.store --sizes $(or $(SIZES),1e6) --out docs/store-measured.md

.PHONY: bench-report
bench-report: install ## How long a weekly report takes at 10⁶ verdicts (minutes; SIZES=1e7 DAYS=28 STORE=DIR an hour, once)
	$(BIN)/python -m tests.bench.report --sizes $(or $(SIZES),1e6) --days $(or $(DAYS),90) $(if $(STORE),--store $(STORE))

.PHONY: faults-table
faults-table: install ## Measure the README's table: what status codes saw and what Davylamp said
	$(BIN)/python -m tests.bench.faults

.PHONY: drill
drill: install ## Measure what is caught of every fault, how soon, and that nulls stay silent (most of an hour)
	@mkdir -p build
	$(BIN)/davylamp drill --profile standard --seeds 20 --jobs 4 --out docs --json build/drill.json

.PHONY: drill-quick
drill-quick: install ## A drill of a minute: three faults are caught, a null stays silent
	$(BIN)/davylamp drill --profile quick --faults overlength_placeholder,role_dropped,usage_half,leading_space --seeds 1

.PHONY: lock
lock: ## Pin all dependencies again, with hashes (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -q -o requirements/runtime.txt
	uv pip compile pyproject.toml --group dev --all-extras --override requirements/overrides.txt --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -q -o requirements/dev.txt

.PHONY: clean
clean: ## Remove what the targets made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
