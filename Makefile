# Everything runs inside .venv at the root; all it needs is make and Python 3.11+ with venv.
# `make help` lists the targets.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The locks name every package. With --no-deps pip resolves nothing itself, so a new release of a
# dependency can't break an install; `pip check` reports anything a lock lacks.
INSTALL_LOCKED := $(PIP) install --quiet --no-deps --require-hashes -r
CHECK_INSTALLED = @problems=$$($(PIP) check) || { echo "$$problems" >&2; exit 1; }
ARGS ?=
PYTEST_ARGS ?=
# Four for two cores: many tests wait for other processes. More are slower.
WORKERS ?= 4

.DEFAULT_GOAL := help
.PHONY: help install run test proof coverage format docs web web-check screenshots pictures lock bench clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: .venv/.run ## Install Navi and what it needs into .venv

run: install ## Start the server; pass options with ARGS="..."
	@# The server exits with 130 after Ctrl-C, which is not a failure.
	@$(BIN)/navi serve $(ARGS) || [ $$? -eq 130 ]

test: .venv/.test .venv/.system build/clients/.installed ## Check format, lint and types, then run the tests; PYTEST_ARGS="..."
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not proof" $(PYTEST_ARGS)

proof: .venv/.test .venv/.system .venv/.uv build/clients/.installed ## Run the slow tests: years, storms of kills, planted faults, the benchmarks
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m proof $(PYTEST_ARGS)

# The tests that call the code in their own process: quick, and the only ones that can be measured.
coverage: .venv/.test .venv/.system ## Measure what the unit and integration tests cover; fails below the floor
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not proof" --cov --cov-report=term \
		tests/unit tests/integration $(PYTEST_ARGS)

format: .venv/.test ## Format the code and apply the safe lint fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/.run ## Rewrite the parts of docs/reference that come from the code
	$(BIN)/python -m scripts.reference_pages

web: .venv/.run ## Build the page from webui/ into src/navi/web; needs Node 20.19 or newer
	cd webui && npm ci --ignore-scripts --no-audit --no-fund && npm run check && npm run build
	$(BIN)/python -m scripts.page_fingerprint

web-check: .venv/.run ## Build the page elsewhere and compare it with src/navi/web; needs Node too
	$(BIN)/python -m scripts.page_rebuild

screenshots: .venv/.test .venv/.system ## Take the screenshots in docs/images again
	$(BIN)/python -m scripts.screenshots

pictures: .venv/.test build/clients/.installed ## Draw the terminals in docs again
	$(BIN)/python -m scripts.terminal_pictures
	$(BIN)/python -m scripts.terminal_stories
	$(BIN)/python -m scripts.picker_screen

bench: .venv/.test ## Measure turns; pass options with ARGS="..."
	$(BIN)/python -m benchmarks.turns $(ARGS)

# Keeps the locked versions that still fit; LOCK_ARGS=--upgrade takes the newest instead.
# No index options are written, so that the locks hold hashes only and work with any index.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-emit-index-url --no-emit-find-links --annotation-style line $(LOCK_ARGS)

lock: .venv/.uv ## Recompute the locks in requirements/ and benchmarks/; LOCK_ARGS=--upgrade
	$(COMPILE) --group lock -o requirements/lock.txt
	$(COMPILE) pyproject.toml --group build -o requirements/run.txt
	$(COMPILE) pyproject.toml --extra semantic --group dev -c requirements/run.txt -o requirements/test.txt
	$(COMPILE) benchmarks/clock/peers.in -o benchmarks/clock/peers.txt
	$(COMPILE) benchmarks/memory/peers.in -o benchmarks/memory/peers.txt

clean: ## Remove .venv, caches and build output
	rm -rf .venv build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps make a second install a no-op until a lock or pyproject.toml changes.
.venv/.run: requirements/run.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Navi needs Python 3.11 or newer; choose one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "$(PYTHON) cannot create environments; on Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(INSTALL_LOCKED) requirements/run.txt
	@# Its name until 0.1: two installs of one package would share their commands.
	@$(PIP) uninstall --quiet --yes navi 2>/dev/null
	$(PIP) install --quiet --no-deps --no-build-isolation -e .
	$(CHECK_INSTALLED)
	@touch $@

.venv/.test: requirements/test.txt .venv/.run
	$(INSTALL_LOCKED) requirements/test.txt
	$(CHECK_INSTALLED)
	@touch $@

# uv makes the locks, and the proofs run the built wheel with it.
.venv/.uv: requirements/lock.txt .venv/.run
	$(INSTALL_LOCKED) requirements/lock.txt
	@touch $@

# What the tests need from the system: Chromium for the page, tmux and npm for the agents. As root on
# Debian or Ubuntu, make announces and installs what is missing with apt-get; otherwise it says what to
# install. Nothing else here needs root.
.venv/.system: .venv/.run
	@packages=""; \
	command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null \
		|| command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
		|| packages="$$packages chromium-headless-shell fonts-dejavu-core"; \
	command -v tmux >/dev/null || packages="$$packages tmux"; \
	command -v npm >/dev/null || packages="$$packages npm"; \
	[ -z "$$packages" ] \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
			&& echo "Installing with apt-get, as root:$$packages" >&2 && apt-get update -qq \
			&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
				$$packages >/dev/null; } \
		|| { echo "The tests need more; on Debian or Ubuntu: apt install$$packages" >&2; exit 1; }
	@touch $@

# For the acceptance tests: the real Claude Code and Codex, and axe-core, which checks the page.
build/clients/.installed: tests/acceptance/clients/package-lock.json | .venv/.system
	@mkdir -p build/clients
	cp tests/acceptance/clients/package.json tests/acceptance/clients/package-lock.json build/clients/
	npm ci --prefix build/clients --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
