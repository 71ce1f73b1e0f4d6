# Every target sets up what it needs: `make demo` and `make test` work on a fresh clone.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
export UV_NO_PROGRESS := 1
export UV_COMPILE_BYTECODE := 1
# Compiled modules halve the start of every process, whatever the surrounding shell prefers.
export PYTHONDONTWRITEBYTECODE :=

# Builds are reproducible: the same commit gives the same bytes.
export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null || echo 315532800)

.PHONY: conformance help setup up demo wheel tag publish check test test-all ui browser bench bench-search bench-imagery bench-detection bench-serving audit chaos soak format lock clean

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(VENV)/.ready ## install everything into .venv

$(VENV)/bin/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.8"

$(VENV)/.ready: $(VENV)/bin/uv requirements/dev.txt pyproject.toml
	$(BIN)/uv pip sync --quiet --python $(BIN)/python requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

# The official Determined client lives in an environment of its own: it is the judge of our API.
.venv-judge/.ready: $(VENV)/.ready requirements/judge.txt
	$(BIN)/uv venv --quiet --allow-existing .venv-judge --python $(BIN)/python
	$(BIN)/uv pip sync --quiet --python .venv-judge/bin/python requirements/judge.txt
	@touch $@

# Peers that benchmarks run beside us.
.venv-peers/.ready: $(VENV)/.ready requirements/peers.txt
	$(BIN)/uv venv --quiet --allow-existing .venv-peers --python $(BIN)/python
	$(BIN)/uv pip sync --quiet --python .venv-peers/bin/python requirements/peers.txt
	@touch $@

# `npm install` and not `npm ci`: the latter refuses a lock without the native parts of other platforms.
STATIC := src/resolute/server/static
WEB_SOURCES := $(shell find web -path web/node_modules -prune -o -type f -print)

ui: $(STATIC)/.ready ## build the web UI into the package

$(STATIC)/.ready: $(VENV)/.ready $(WEB_SOURCES)
	cd web && PATH="$(CURDIR)/$(BIN):$$PATH" npm install --no-save --no-audit --no-fund --silent && PATH="$(CURDIR)/$(BIN):$$PATH" npm run --silent build
	@touch $@

# Browser tests need a Chromium. It is installed where we may, and the tests say that they are skipped where we may not.
browser:
	@command -v chromium >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
		echo "SKIPPED: browser tests, because there is no chromium and it could not be installed (needs root and apt-get)."

wheel: setup ui ## build the sdist and the wheel into dist/, and try them in an empty environment
	rm -rf dist
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir dist
	$(BIN)/pytest -q tests/e2e/release
	@ls -l dist

VERSION = $(shell $(BIN)/python -c "from resolute.version import __version__; print(__version__)")

tag: wheel ## tag this commit with the version in src/resolute/version.py; the changelog must have a dated section for it
	@git diff --quiet HEAD || { echo "There are uncommitted changes; commit them first."; exit 1; }
	@grep -Eq '^## $(VERSION) \([0-9]{4}-[0-9]{2}-[0-9]{2}\)' CHANGELOG.md || { \
		echo "CHANGELOG.md has no section '## $(VERSION) (YYYY-MM-DD)'; date it first."; exit 1; }
	git tag -a "v$(VERSION)" -m "Resolute $(VERSION)"

publish: ## upload dist/ as it was built and tried by `make tag`
	@git describe --exact-match --match "v$(VERSION)" >/dev/null || { echo "This commit has no tag v$(VERSION); run make tag."; exit 1; }
	$(BIN)/uv publish dist/*

up: setup ui ## run the platform in the foreground
	$(BIN)/resolute up

demo: setup ui ## the main job on this machine, then stay up to look around
	$(BIN)/python examples/demo.py

bench: setup .venv-peers/.ready ## the core beside its peers, as ratios
	$(BIN)/python -m benchmarks.platform.run

.venv-search/.ready: $(VENV)/.ready benchmarks/search/requirements.in
	$(BIN)/uv venv --quiet --allow-existing .venv-search --python $(BIN)/python
	$(BIN)/uv pip install --quiet --python .venv-search/bin/python -r benchmarks/search/requirements.in
	@touch $@

bench-search: setup .venv-search/.ready ## searchers beside Optuna, Ray Tune and Syne Tune (hours at full size)
	PYTHONPATH=src:. .venv-search/bin/python -m benchmarks.search.run

.venv-sahi-original/.ready: $(VENV)/.ready benchmarks/imagery/requirements.in
	$(BIN)/uv venv --quiet --allow-existing .venv-sahi-original --python $(BIN)/python
	$(BIN)/uv pip install --quiet --python .venv-sahi-original/bin/python -r benchmarks/imagery/requirements.in
	@touch $@

bench-imagery: setup .venv-sahi-original/.ready ## imagery beside SAHI and rasterio
	PYTHONPATH=. RESOLUTE_SAHI_PYTHON=.venv-sahi-original/bin/python $(BIN)/python -m benchmarks.imagery.run

.venv-sahi/.ready: $(VENV)/.ready benchmarks/detection/requirements.in
	$(BIN)/uv venv --quiet --allow-existing .venv-sahi --python $(BIN)/python
	$(BIN)/uv pip install --quiet --python .venv-sahi/bin/python -r benchmarks/detection/requirements.in
	@touch $@

bench-detection: setup .venv-sahi/.ready ## metrics, merging and sliced inference beside their peers
	PYTHONPATH=. RESOLUTE_SAHI_PYTHON=.venv-sahi/bin/python $(BIN)/python -m benchmarks.detection.run

# Peers of the model server do not agree on versions: each has an environment of its own.
.venv-%-server/.ready: $(VENV)/.ready benchmarks/serving/requirements.in
	$(BIN)/uv venv --quiet --allow-existing $(@D) --python $(BIN)/python
	grep '^$*==' benchmarks/serving/requirements.in | $(BIN)/uv pip install --quiet --python $(@D)/bin/python -r -
	@touch $@

bench-serving: setup .venv-kserve-server/.ready .venv-mlserver-server/.ready .venv-litserve-server/.ready ## the model server and the router beside their peers
	PYTHONPATH=. RESOLUTE_KSERVE_PYTHON=.venv-kserve-server/bin/python \
		RESOLUTE_MLSERVER_PYTHON=.venv-mlserver-server/bin/python \
		RESOLUTE_LITSERVE_PYTHON=.venv-litserve-server/bin/python $(BIN)/python -m benchmarks.serving.echo
	PYTHONPATH=. $(BIN)/python -m benchmarks.serving.router
	PYTHONPATH=. $(BIN)/python -m benchmarks.serving.router_rollout

# Minutes each. Parts of it need root: a disk that is full (mount), hosts that are cut off (network namespaces).
chaos: setup ## random kills and faults under load: nothing acknowledged is lost, nothing runs twice
	$(BIN)/python -m benchmarks.chaos.run --kills 100 --faults 9
	$(BIN)/python -m benchmarks.chaos.run --kills 40 --faults 8 --database postgres --storage s3
	@[ "$$(id -u)" = 0 ] || echo "SKIPPED: storms over several hosts, which need root."
	[ "$$(id -u)" != 0 ] || $(BIN)/python -m benchmarks.chaos.run --kills 30 --faults 8 --hosts 3

soak: setup ## ten minutes of live pages: fails when the master's memory, files, threads or disk keep growing
	$(BIN)/python -m benchmarks.platform.soak

audit: setup ## licences of all dependencies, pins without hashes; advisories with ADVISORIES=address of a package index
	$(BIN)/python -m tests.dependencies $(if $(ADVISORIES),--advisories $(ADVISORIES))

format: setup ## format the code
	$(BIN)/ruff format src tests benchmarks examples
	$(BIN)/ruff check --fix-only --quiet src tests benchmarks examples

# A driven browser leaves an event loop in its process, so its tests have a run of their own.
# Unit tests that load torch, crash a search at every write or try many pools take longer than a check should;
# `make test` runs them.
LONGER := tests/unit/training tests/unit/vision tests/unit/serving tests/unit/engine/test_crashes.py \
	tests/unit/domain/test_placement_properties.py tests/unit/client/test_public_names.py

check: setup ui ## format, lint, types, layers, unit tests
	$(BIN)/ruff format --check --quiet src tests benchmarks examples
	$(BIN)/ruff check --quiet src tests benchmarks examples
	$(BIN)/lint-imports --no-cache
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target check-types check-units

.PHONY: check-types check-units
check-types:
	$(BIN)/mypy
	cd web && PATH="$(CURDIR)/$(BIN):$$PATH" npm run --silent check

check-units:
	$(BIN)/pytest -q -n 2 tests/unit $(addprefix --ignore ,$(LONGER))

test: setup .venv-judge/.ready ui browser ## everything, from nothing
	$(MAKE) --no-print-directory check
	$(BIN)/pytest -q -n 2 --dist loadfile -m "not slow" $(LONGER) tests/contract tests/api tests/e2e --ignore tests/e2e/web
	$(BIN)/pytest -q -n 2 --dist loadfile -m "not slow" tests/e2e/web

test-all: setup .venv-judge/.ready ui browser ## also the suites that take minutes
	$(MAKE) --no-print-directory check
	$(BIN)/pytest -q -n 2 --dist loadfile $(LONGER) tests/contract tests/api tests/e2e tests/gpu --ignore tests/e2e/web
	$(BIN)/pytest -q -n 2 --dist loadfile tests/e2e/web

conformance: setup .venv-judge/.ready ## write docs/determined-conformance.md anew, with the official client
	RESOLUTE_WRITE_CONFORMANCE=1 $(BIN)/pytest -q -m slow tests/e2e/judge/test_conformance.py

lock: $(VENV)/bin/uv ## compile the requirement files again
	$(BIN)/uv pip compile --quiet --no-emit-index-url --generate-hashes --no-header --universal --python-version 3.11 \
		--all-extras --group test --group dev pyproject.toml -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --no-emit-index-url --generate-hashes --no-header --universal --python-version 3.11 \
		requirements/judge.in -o requirements/judge.txt

clean: ## remove what was built
	rm -rf $(VENV) .venv-judge dist web/node_modules src/resolute/server/static
