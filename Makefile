# `make run` and `make test` need nothing but Python >= 3.11 with venv.
PYTHON ?= python3
BIN := .venv/bin
export PIP_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Python compiles what it imports; pip would compile all there is, for twice the time.
INSTALL := pip install -q --no-compile

CYTOSCAPE := 3.34.4
VENDOR := src/kaccess/report/page/vendor
WHEEL := build/wheel

.PHONY: run test lint pytest wheel-test figures vendor clean

# Where nothing can be rendered, `play` says so and the flow goes on.
run: .venv/installed  ## A policy at work, then the whole flow, small: minutes on two cores
	-$(BIN)/kaccess play bittle --video runs/play.mp4
	$(BIN)/kaccess run bittle runs/quick --preset quick

test: lint pytest  ## Lint and run the tests, at once with -j

pytest: .venv/installed
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadgroup

lint: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

wheel-test:  ## Build the wheel and try it in an environment of its own
	rm -rf dist $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/pip wheel -q --no-deps -w dist .
	$(WHEEL)/bin/$(INSTALL) dist/*.whl
	cd dist && ../$(WHEEL)/bin/kaccess run bittle study --preset tiny

figures: .venv/installed  ## The pictures in docs/, the study runs/bittle included
	$(BIN)/python docs/make_figures.py runs/bittle

vendor:  ## Fetch again what the report's page has inside, with npm
	cd $(VENDOR) && npm pack --silent cytoscape@$(CYTOSCAPE) && \
	  tar -xzf cytoscape-$(CYTOSCAPE).tgz --strip-components=1 package/LICENSE && \
	  tar -xzf cytoscape-$(CYTOSCAPE).tgz --strip-components=2 package/dist/cytoscape.min.js && \
	  rm cytoscape-$(CYTOSCAPE).tgz

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kaccess needs Python 3.11 or newer; say which: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/$(INSTALL) -e '.[dev,graph,gpu,bullet,train,onnx,sb3,video,browser]'
	@touch $@

clean:
	rm -rf .venv dist build
