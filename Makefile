# Two commands do everything on a fresh machine:
#   make chat   sets up the light runtime and opens a chat
#   make test   sets up everything the tests need and runs all of them
# The page of `allears serve` is committed as it was built; after a change in web/, make web builds it anew.
# A stamp file per install remembers what was installed; nothing is reinstalled until its inputs change.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := .make

# .ci/run sets ALLEARS_DATA; by hand, the folder beside the checkout is used when it is there.
ALLEARS_DATA ?= $(wildcard ../shared/data)
export ALLEARS_DATA

.PHONY: chat test web screenshots lint docs format clean
.DEFAULT_GOAL := help

help:
	@grep -E '^#   make' Makefile | sed 's/^#   //'; echo "make lint   Ruff, mypy and who may import whom"; echo "make docs   build the documentation into site/"; echo "make web    build the page from web/ into the package"

$(STAMPS)/venv:
	@mkdir -p $(STAMPS)
	@if [ "$$(id -u)" = 0 ] && ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
	  apt-get update -qq && apt-get install -y -qq python3 python3-venv; fi
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(STAMPS)/runtime: $(STAMPS)/venv pyproject.toml constraints.txt
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! ldconfig -p | grep -q 'libgomp\.so\.1'; then \
	  apt-get update -qq && apt-get install -y -qq libgomp1; fi # llama.cpp's threads
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(STAMPS)/dev: $(STAMPS)/runtime pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@if [ "$$(id -u)" = 0 ] && ! command -v java >/dev/null; then \
	  apt-get update -qq && apt-get install -y -qq default-jre-headless; fi # Spark runs on Java
	@touch $@

# Node comes as a wheel, so that every machine builds with the same one.
NPM := cd web && PATH="$(abspath $(BIN)):$$PATH" npm
$(STAMPS)/node: $(STAMPS)/dev web/package-lock.json
	$(NPM) ci --silent
	@touch $@

$(STAMPS)/chromium: $(STAMPS)/venv
	@if [ "$$(id -u)" = 0 ] && ! command -v chromium >/dev/null; then \
	  apt-get update -qq && apt-get install -y -qq chromium; fi # what the browser tests look with
	@touch $@

# The index of the replies lies in the user's cache folder; made once, and again when the replies or the model change.
$(STAMPS)/replies: $(STAMPS)/runtime $(wildcard src/allears/listener/cards/*.gz src/allears/bundles/default/*)
	@$(BIN)/allears chat --prepare
	@touch $@

# The default voice's weights, 1.1 GB, once; without a network the chat goes on with what is here.
# VOICE=chosen make chat   leaves them where they are: another voice was chosen (allears voice use).
VOICE ?= default
chat: $(STAMPS)/replies
ifneq ($(VOICE),chosen)
	@$(BIN)/allears voice get $(VOICE) --quiet-if-there || echo "The voice '$(VOICE)' is not here yet; the chat does without it."
endif
	@$(BIN)/allears chat

test: $(STAMPS)/dev $(STAMPS)/node $(STAMPS)/chromium $(STAMPS)/replies
	$(NPM) test --silent
	$(BIN)/python -m pytest -n auto

web: $(STAMPS)/node
	$(NPM) run --silent build

screenshots: $(STAMPS)/dev $(STAMPS)/chromium $(STAMPS)/replies
	$(BIN)/python tests/browser/screenshots.py

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check src tests benchmarks docs/draw.py
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMPS)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format src tests benchmarks docs/draw.py

docs: $(STAMPS)/dev
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) $(STAMPS) site dist web/node_modules
