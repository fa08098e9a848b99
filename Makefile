# Every target makes the environment it needs; it is made again only when what it is made from has changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.made
PEERS := .venv-peers
THIRDPARTY := .venv-thirdparty
AGENTS := .agents
SLACK_SERVER := .venv-slack-server
FRAMEWORKS := .venv-frameworks
# If the whole environment is there, the demo runs in it.
DEMO := $(if $(wildcard $(STAMP)),$(VENV),.venv-demo)
CREWAI := .venv-crewai
ARGS ?=
# More than half of what tests do is wait for processes and deadlines, so there are twice as many workers as processors, and one.
WORKERS := $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1) + 1)')

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
# Without a cache of bytecode, each test process and each `sayso` that a test starts would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench bench-peers lock fuzz long matrix-lite seeded thirdparty thirdparty-telegram thirdparty-slack thirdparty-agents deploy-telegram deploy-slack verify-deploy docs

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

setup: $(STAMP) ## make .venv from the hashed requirements
	@:

# Works where ensurepip is missing, as on a Debian without python3-venv: the system's pip fills the environment.
# All output goes to stderr and nothing is read, so that `make demo` can stand in a pipe.
$(STAMP): requirements.txt pyproject.toml
	@PYTHON="$(PYTHON)" scripts/venv $(VENV) requirements.txt --no-deps --no-build-isolation --editable . </dev/null >&2
	@touch $@

demo: $(DEMO)/.made ## the whole loop in this terminal (ARGS=... goes to `sayso demo`)
	@$(DEMO)/bin/python -m bot demo $(ARGS)

# All that the demo needs is a quarter of the packages, in a quarter of the time. The file .pth takes the place of an installation,
# for which hatchling would be needed.
.venv-demo/.made: scripts/demo-requirements.txt
	@PYTHON="$(PYTHON)" scripts/venv .venv-demo $< </dev/null >&2
	@printf '%s\n' "$(CURDIR)" "$(CURDIR)/clients" >"$$(.venv-demo/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/sayso.pth"
	@touch $@

test: $(STAMP) ## run the tests (ARGS=... goes to pytest)
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS)

check: $(STAMP) ## format, lint, types, import directions, docstrings, and how what you changed reads
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/interrogate --quiet tests
	@[ ! -e .git ] || $(BIN)/python scripts/plain-english --changed

bench: $(STAMP) ## measure us against the budgets
	@$(BIN)/python -m benchmarks $(ARGS)

bench-peers: $(STAMP) ## measure the peers, in an environment of their own
	@PYTHON="$(PYTHON)" scripts/venv $(PEERS) benchmarks/peers-requirements.txt </dev/null >&2
	@$(PEERS)/bin/python -m benchmarks.peers $(ARGS)

deploy-telegram: $(STAMP) ## tell Telegram about this bot (ARGS=--remove takes it back)
	@$(BIN)/sayso deploy telegram $(ARGS)

deploy-slack: $(STAMP) ## check Slack's tokens, scopes and channels (ARGS=--manifest prints the app's manifest)
	@$(BIN)/sayso deploy slack $(ARGS)

thirdparty: $(THIRDPARTY)/.made $(SLACK_SERVER)/.made $(FRAMEWORKS)/.made $(CREWAI)/.made ## us against servers and clients that others wrote (ARGS=... goes to pytest)
	@$(THIRDPARTY)/bin/pytest -m thirdparty tests/thirdparty $(ARGS)

thirdparty-telegram: $(THIRDPARTY)/.made ## the part of thirdparty about Telegram, which takes a minute
	@$(THIRDPARTY)/bin/pytest -m thirdparty tests/thirdparty/test_telegram_*.py $(ARGS)

thirdparty-slack: $(THIRDPARTY)/.made $(SLACK_SERVER)/.made ## the part of thirdparty about Slack, which takes a minute
	@$(THIRDPARTY)/bin/pytest -m thirdparty tests/thirdparty/test_slack_*.py $(ARGS)

$(THIRDPARTY)/.made: tests/thirdparty/requirements.txt pyproject.toml
	@PYTHON="$(PYTHON)" scripts/venv $(THIRDPARTY) $< --no-deps --no-build-isolation --editable . </dev/null >&2
	@touch $@

# Frameworks whose requirements don't go together with those above. CrewAI's don't go together with the others' either.
$(FRAMEWORKS)/.made: tests/thirdparty/frameworks-requirements.txt
$(CREWAI)/.made: tests/thirdparty/crewai-requirements.txt
$(FRAMEWORKS)/.made $(CREWAI)/.made:
	@PYTHON="$(PYTHON)" scripts/venv $(@D) $< </dev/null >&2
	@touch $@

thirdparty-agents: $(STAMP) $(AGENTS)/.made ## real coding agents behind the gate: downloads 2 GB (ARGS=... goes to pytest)
	@$(BIN)/pytest -m agents tests/agents $(ARGS)

# Each in the version that its hook was measured with. Claude Code comes inside the wheel of its SDK. OpenClaw and Qwen Code get
# the newer Node that they need: --force lets an older npm install them.
$(AGENTS)/.made: tests/agents/requirements.txt tests/agents/packages.txt tests/agents/newer-node.txt
	@mkdir -p $(AGENTS)
	@cd $(AGENTS) && npm install --no-save --no-audit --no-fund --prefix . $$(cat ../tests/agents/packages.txt) </dev/null >&2
	@mkdir -p $(AGENTS)/newer-node
	@cd $(AGENTS)/newer-node && npm install --no-save --no-audit --no-fund --ignore-scripts --force --prefix . $$(cat ../../tests/agents/newer-node.txt) </dev/null >&2
	@$(PYTHON) -m pip install --quiet --no-deps --require-hashes --target $(AGENTS)/claude --upgrade --requirement $< >&2
	@touch $@

# A Slack that others wrote, which needs a newer Python. Where there is none, its tests skip and say so.
$(SLACK_SERVER)/.made: tests/thirdparty/slack-server-requirements.txt tests/thirdparty/slack-server.txt
	@if python=$$(scripts/newer-python); then \
		PYTHON="$$python" scripts/venv $(SLACK_SERVER) $< --no-deps --require-hashes --requirement $(word 2,$^) </dev/null >&2 \
		&& touch $@; \
	fi

verify-deploy: .venv-deploy/.made ## check the files of deploy/ with the tools of those who will read them
	@scripts/verify-deploy .venv-deploy/bin

.venv-deploy/.made: deploy/verify-requirements.txt
	@PYTHON="$(PYTHON)" scripts/venv .venv-deploy $< </dev/null >&2
	@touch $@

docs: .venv-docs/.made ## build the documentation into build/docs
	@NO_COLOR=1 .venv-docs/bin/zensical build --clean --strict --config-file mkdocs.yml

.venv-docs/.made: scripts/docs-requirements.txt
	@PYTHON="$(PYTHON)" scripts/venv .venv-docs $< </dev/null >&2
	@touch $@

matrix-lite: $(STAMP) ## kill the service 200 times in use, look for faults (ARGS="--seed N --kills N", or --prove)
	@$(BIN)/python -m tests.matrix $(ARGS)

seeded: $(STAMP) ## put small faults into copies of the code, see which test catches each, in some minutes (ARGS="--near")
	@$(BIN)/python -m tests.seeded $(ARGS)

long: $(STAMP) ## the slow tests: whole pages of the docs, deaths at each step, back-ups, old databases, and more
	@$(BIN)/pytest -m "long and not fuzz" -n $(WORKERS) --dist worksteal $(ARGS)

fuzz: $(STAMP) ## the long random runs
	@$(BIN)/pytest -m fuzz $(ARGS)

lock: $(STAMP) ## pin and hash the requirements again (ARGS=--upgrade for newer releases)
	@PATH="$(abspath $(BIN)):$$PATH" scripts/lock $(ARGS) </dev/null
