# Everything that is done to this project, by verb. Each verb sets up what it needs itself: there
# is nothing to install or activate first but git, make and Python 3.11 or newer.
#
#   make PYTHON=python3.13 test          another Python (`make clean` first)
#   make test ARGS="-k lifecycle -x"     arguments for pytest, the demo or the benchmarks

# The first one that is new enough.
PYTHON ?= $(shell for each in python3 python3.13 python3.12 python3.11; do \
    "$$each" -c $(NEW_ENOUGH) 2>/dev/null && echo "$$each" && break; done)
NEW_ENOUGH := 'import sys; sys.exit(sys.version_info < (3, 11))'

VENV := .venv
# Environments and files of single verbs.
WORK := .make
BIN := $(VENV)/bin
ARGS ?=

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test coverage check format diagram protos protos-check test-lowest package bench soak upgrade clean

help: ## List the verbs.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.runtime ## Show it at work: a plugin and a fake kubelet, no cluster needed.
	@$(BIN)/deviceplugin demo $(ARGS)

test: $(VENV)/.dev ## Run the tests.
	@$(BIN)/python -m pytest $(ARGS)

coverage: $(VENV)/.dev ## Run the tests and list the lines and branches that none of them reached.
	@$(BIN)/python -m pytest --cov --cov-report=term-missing $(ARGS)

check: $(VENV)/.dev ## Check style, types, architecture and the generated code.
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory protos-check

format: $(VENV)/.dev ## Format the code and repair what can be repaired.
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

diagram: $(VENV)/.dev ## Draw docs/lifecycle.md from the lifecycle's table.
	@$(BIN)/python -m tests.support.lifecycle_diagram

# --- generated code ------------------------------------------------------------------------------

WIRE := deviceplugin/adapters/kubelet/wire
PROTOS := deviceplugin/v1beta1 pluginregistration/v1 podresources/v1

# protoc takes a folder of the output from the name of its input. So each file gets the name that
# its output is imported by, and the imports come out right; $(1) is the folder to write to.
generate = $(WORK)/protos/bin/python -m grpc_tools.protoc \
    $(foreach each,$(PROTOS),-I $(WIRE)/$(firstword $(subst /, ,$(each))).proto=protos/$(each)/api.proto) \
    --plugin=protoc-gen-mypy=$(WORK)/protos/bin/protoc-gen-mypy \
    --plugin=protoc-gen-mypy_grpc=$(WORK)/protos/bin/protoc-gen-mypy_grpc \
    --python_out=$(1) --grpc_python_out=$(1) --mypy_out=quiet:$(1) --mypy_grpc_out=quiet:$(1) \
    $(foreach each,$(PROTOS),$(WIRE)/$(firstword $(subst /, ,$(each))).proto)

protos: $(WORK)/protos/.ready ## Generate the messages and stubs from protos/.
	@$(call generate,.import)

protos-check: $(WORK)/protos/.ready ## Fail if the generated code isn't what protos/ says.
	@rm -rf $(WORK)/generated && mkdir -p $(WORK)/generated
	@$(call generate,$(WORK)/generated)
	@diff -rq --exclude=__init__.py --exclude=__pycache__ $(WORK)/generated/$(WIRE) src/adapters/kubelet/wire \
	    || { echo "error: run \`make protos\` and commit what it writes" >&2; exit 1; }
	@echo "The generated code is up to date."

# --- packaging -----------------------------------------------------------------------------------

test-lowest: $(VENV)/.dev $(WORK)/lowest/.ready ## Run the tests and mypy with the oldest libraries that are allowed.
	@$(WORK)/lowest/bin/python -m pytest $(ARGS)
	@$(BIN)/mypy --python-executable $(WORK)/lowest/bin/python --cache-dir $(WORK)/lowest/.mypy_cache

package: $(VENV)/.dev ## Build the package, and test it as a user gets it, away from the source.
	@rm -rf build dist $(WORK)/sdist $(WORK)/wheel $(WORK)/alone && mkdir -p $(WORK)/sdist
	@echo "Building dist/ ..."
	@$(BIN)/python -m build --no-isolation > $(WORK)/build.log 2>&1 || { cat $(WORK)/build.log; exit 1; }
	@$(call venv,wheel)
	@$(WORK)/wheel/bin/pip install -q -c constraints.txt "$$(echo dist/*.whl)[metrics,testing]" h2 jsonschema
	@tar -xf dist/*.tar.gz -C $(WORK)/sdist --strip-components=1
	@echo "Running the sdist's tests on the wheel ..."
	@cd $(WORK)/sdist && ../wheel/bin/python -P -m pytest $(ARGS)
	@$(call venv,alone)
	@$(WORK)/alone/bin/pip install -q -c constraints.txt attrs
	@$(WORK)/alone/bin/pip install -q --no-deps dist/*.whl
	@cd $(WORK) && alone/bin/python -P -W error -c $(IMPORT_DOMAIN)

IMPORT_DOMAIN := 'import importlib, pkgutil, deviceplugin.domain as domain; \
    names = [m.name for m in pkgutil.walk_packages(domain.__path__, "deviceplugin.domain.")]; \
    [importlib.import_module(name) for name in names]; \
    print(f"The domain stands alone: {len(names)} modules imported, nothing but attrs installed.")'

# --- the rest ------------------------------------------------------------------------------------

# A kubelet of three numbers is a real one: it is built, and run where nobody else's files are.
KUBELET ?= 1.37
on_kubelet = $(if $(word 3,$(subst ., ,$(KUBELET))),lack=$$(tests/conformance/lacking) && { \
    echo "Skipped the real kubelet: $$lack."; exit 0; }; kubelet=$$(tests/kubelets/build plane $(KUBELET)) && \
    exec tests/kubelets/alone,kubelet=$(KUBELET); exec)

# gRPC writes a line for each connection that is cut.
bench soak: export GRPC_VERBOSITY := NONE

bench: $(VENV)/.dev ## Hold speed and size to their bounds against bare servers: KUBELET=1.37.2 for a real one.
	@$(on_kubelet) $(BIN)/python -m benchmarks --kubelet $$kubelet $(ARGS)

soak: $(VENV)/.dev ## Thousands of accidents: KUBELET=1.37.2 ARGS="--rounds 1000 --seconds 600 --seed 1".
	@$(on_kubelet) $(BIN)/python -m tests.soak --kubelet $$kubelet $(ARGS)

# Of each subject: trees, documents, messages. The properties of one share them.
EXAMPLES ?= 100000

.PHONY: fuzz
fuzz: $(VENV)/.dev ## Let random trees and YAML meet scanner and reader, an hour on 2 cores: EXAMPLES=100000.
	@$(BIN)/python -m tests.fuzz --examples $(EXAMPLES) $(ARGS)

upgrade: ## Write constraints.txt anew, from the newest of everything.
	@rm -rf $(WORK)/upgrade
	@$(call venv,upgrade)
	@$(WORK)/upgrade/bin/pip install -q "setuptools>=80"
	@$(WORK)/upgrade/bin/pip install -q --no-build-isolation -e '.[dev]'
	@$(WORK)/upgrade/bin/pip freeze --all --exclude pip --exclude-editable > constraints.txt
	@git --no-pager diff --stat -- constraints.txt

clean: ## Remove all that these verbs have made.
	rm -rf $(VENV) $(WORK) build dist *.egg-info htmlcov .coverage .hypothesis .import_linter_cache .*_cache
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# --- environments: each is complete when its stamp is newer than what it was made from -------------

python_ok = "$(PYTHON)" -c $(NEW_ENOUGH) 2>/dev/null || { \
    echo "error: this needs Python 3.11 or newer; say where: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
venv = $(python_ok); "$(PYTHON)" -m venv --clear $(WORK)/$(1)

$(VENV)/.made:
	@$(python_ok)
	@echo "Making $(VENV) with $$($(PYTHON) --version) ..."
	@"$(PYTHON)" -m venv --clear $(VENV)
	@touch $@

# setuptools comes first and from the constraints, so that the build is pinned like all the rest.
$(VENV)/.runtime: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing what deviceplugin needs ..."
	@$(BIN)/pip install -q -c constraints.txt setuptools
	@$(BIN)/pip install -q -c constraints.txt --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@echo "Installing what its development needs ..."
	@$(BIN)/pip install -q -c constraints.txt --no-build-isolation -e '.[dev]'
	@touch $@

$(WORK)/protos/.ready: constraints/protos.txt
	@echo "Installing the generators ..."
	@$(call venv,protos)
	@$(WORK)/protos/bin/pip install -q -c constraints/protos.txt grpcio-tools mypy-protobuf
	@touch $@

# The direct dependencies at their lower bounds, all others as in constraints.txt.
$(WORK)/lowest/.ready: pyproject.toml constraints.txt constraints/lowest.txt
	@echo "Installing the oldest libraries that are allowed ..."
	@$(call venv,lowest)
	@sed 's/==.*/==/; s/[-_]/[-_]/g; s/^/^/' constraints/lowest.txt > $(WORK)/direct
	@grep -vi -f $(WORK)/direct constraints.txt > $(WORK)/others.txt
	@$(WORK)/lowest/bin/pip install -q -c $(WORK)/others.txt setuptools
	@$(WORK)/lowest/bin/pip install -q -c constraints/lowest.txt -c $(WORK)/others.txt --no-build-isolation \
	    -e '.[metrics,testing]' h2 jsonschema types-PyYAML types-grpcio types-jsonschema types-protobuf
	@touch $@

# --- real kubelets -------------------------------------------------------------------------------

# What is built for these is kept outside of the clone, in the user's cache: tests/kubelets/build.
# It takes some minutes for the first time.

# The device manager and what belongs to it out of these Kubernetes releases; docs/conformance.md
# tells more.
VERSIONS ?= 1.28.15 1.37.2
RELEASES = $(if $(filter all,$(VERSIONS)),1.28.15 1.34.0 1.36.3 1.37.2,$(VERSIONS))

.PHONY: conformance
conformance: $(VENV)/.dev ## Hold fake and real kubelets to one suite: VERSIONS="1.28.15 1.37.2" or all.
	@if lack=$$(tests/conformance/lacking); then echo "Skipped the real kubelets: $$lack."; \
	    $(BIN)/python -m pytest tests/conformance $(ARGS); else \
	    kubelets=$$(for each in $(RELEASES); do tests/kubelets/build plane $$each || exit; done) && \
	    tests/conformance/run $(BIN)/python "$$kubelets" $(ARGS); fi

# The whole of this release, with containerd and pods; docs/node-test.md tells more.
NODE_VERSION ?= 1.35.4

.PHONY: node-test
node-test: $(VENV)/.dev ## Run the plugin on a real node: kubelet, containerd and pods that open devices.
	@if lack=$$(tests/node/lacking); then echo "Skipped the node: $$lack."; else \
	    kubelet=$$(tests/kubelets/build kubelet $(NODE_VERSION)) && \
	    exec tests/node/run $(BIN)/python "$$kubelet" $(WORK)/node $(ARGS); fi
