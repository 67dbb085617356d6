# Everything starts here: each target sets up what it needs, in .venv, and needs only make and Python 3.11 or newer.
PYTHON ?= python3
# Two more than there are cores, since some tests wait for processes and browsers.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# uv installs in a quarter of pip's time. pip does it where uv is missing or fails. Modules are compiled when first used.
install = { [ -x $(BIN)/uv ] && $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) 2>/dev/null; } || $(PIP_INSTALL) $(1)
PINNED ?=  # PINNED=1, as in CI: exactly the versions of constraints.txt, whose hashes are checked
export HETDP_PINNED := $(PINNED)
STRESS ?= 20
JIT_OFF := tests/engines tests/certificate/test_scan.py tests/certificate/test_products.py  # where tests marked jit_off are
PYTEST := $(BIN)/python -m pytest --quiet -n $(WORKERS) --maxprocesses 4 --dist worksteal

unexport PYTHONDONTWRITEBYTECODE  # else every process compiles every module again
unexport PYTHONUNBUFFERED  # most people do not set it, and their output is buffered

.PHONY: help demo test stress slowest kernels modules lint docs constraints bench bench-quick clean
.DELETE_ON_ERROR:

help:  ## what can be made
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{printf "%-17s %s\n", $$1, $$2}'

demo: $(VENV)/runtime.stamp  ## the paper's examples, solved, explained and drawn, in seconds
	@mkdir -p build
	@$(BIN)/hetdp demo -o build/demo.svg

test: $(VENV)/test.stamp  ## all checks: lint, types, layers, tests, doctests, and the CPU engine without its JIT
	@$(MAKE) --no-print-directory -j3 lint kernels modules
	@echo "hetdp: tests"
	@$(PYTEST)
	@echo "hetdp: the CPU engine's tests again, with the JIT switched off"
	@NUMBA_DISABLE_JIT=1 $(PYTEST) --maxprocesses 2 -m "jit_off and not long" $(JIT_OFF)  # more would collect longer than run

stress: $(VENV)/test.stamp  ## the long runs, of which `make test` does a part: fuzzing, kills, races (STRESS=5: five times as much)
	@echo "hetdp: stress, $(STRESS) times as much as make test"
	@HETDP_STRESS=$(STRESS) $(PYTEST) -m "stress or long" tests

slowest: $(VENV)/test.stamp  ## the slowest 20 tests
	@$(PYTEST) --durations 20 --durations-min 0.5

kernels: $(VENV)/test.stamp
	@$(BIN)/python -m tests.kernels

modules: $(VENV)/test.stamp
	@$(BIN)/python -m pytest --quiet --collect-only > $(VENV)/collected.log 2>&1 || true  # compiles all modules, for all workers; if it fails, so do they

lint: $(VENV)/test.stamp  ## style, types and the direction of imports
	@echo "hetdp: style, types, layers"
	@$(BIN)/python -m ruff check --quiet
	@$(BIN)/python -m ruff format --check --quiet || { $(BIN)/python -m ruff format --check; exit 1; }
	@$(BIN)/python -m mypy --no-error-summary
	@$(BIN)/lint-imports > $(VENV)/layers.log || { cat $(VENV)/layers.log; exit 1; }

docs: $(VENV)/test.stamp  ## the documentation as a site, in site/: a dead link or a name without words is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build > $(VENV)/site.log 2>&1 || { cat $(VENV)/site.log; exit 1; }
	@echo "hetdp: open site/index.html"

LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes \
  --no-emit-index-url --no-emit-find-links --custom-compile-command 'make constraints'

constraints: $(VENV)/test.stamp  ## constraints.txt, written anew: the newest versions that fit, with the hashes of all their files
	@$(PIP_INSTALL) --upgrade uv
	@$(LOCK) pyproject.toml --extra test --output-file constraints.txt
	@echo uv | $(LOCK) - --output-file .ci/uv.txt

bench: $(VENV)/bench.stamp  ## the benchmarks, into benchmarks/RESULTS.md (minutes; leave the machine alone meanwhile)
	@$(BIN)/python -m benchmarks

bench-quick: $(VENV)/test.stamp  ## all benchmarks at tiny sizes, to see that they run; writes nothing
	@$(BIN)/python -m benchmarks --quick

clean:  ## remove everything that was made, .venv included
	rm -rf $(VENV) build dist site .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks docs examples -name __pycache__ -type d -prune -exec rm -rf {} +

# Set-up: $(VENV)/place holds the folder the environment was made for, so that a moved or copied one is made anew.
PLACE := $(shell cat $(VENV)/place 2>/dev/null)
ifneq ($(PLACE),$(CURDIR))
.PHONY: $(VENV)/place
endif

$(VENV)/place:
	@command -v "$(PYTHON)" >/dev/null || \
	  { echo "hetdp: there is no $(PYTHON) here; install Python 3.11 or newer (Debian, Ubuntu: apt-get install python3 python3-venv)." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "hetdp: $(PYTHON) is too old; install Python 3.11 or newer, or name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "hetdp: $(PYTHON) has no venv module; install it and run make again (Debian, Ubuntu: apt-get install python3-venv)." >&2; exit 1; }
	@echo "hetdp: making a virtual environment in $(VENV)"
	@"$(PYTHON)" -m venv $(if $(PLACE),--clear) $(VENV)
	@$(BIN)/python -m pip config list | grep -Eq '\.(index-url|no-index)=' || \
	  $(PIP_INSTALL) --retries 0 --timeout 15 --require-hashes --no-deps --requirement .ci/uv.txt 2>/dev/null || \
	  true  # uv would not use the index that pip is set to use
	@printf '%s\n' "$(CURDIR)" > $@

USED := .[excel,plots,studio]

$(VENV)/runtime.stamp: pyproject.toml $(VENV)/place
	@echo "hetdp: installing hetdp and what it needs"
	@$(call install,--editable '$(USED)')
	@touch $@

$(VENV)/test.stamp: pyproject.toml constraints.txt $(VENV)/place
	@echo "hetdp: installing hetdp and what its tests need$(if $(PINNED), (pinned))"
ifeq ($(strip $(PINNED)),)
	@$(call install,--editable '.[test]')
else
	@$(call install,--require-hashes --no-deps --requirement constraints.txt)
	@$(call install,--no-deps --no-build-isolation --editable .)
	@$(BIN)/python -m pip check --disable-pip-version-check
endif
	@touch $(VENV)/runtime.stamp $@

# What others offer, for comparison: one after the other, since what cannot be installed here is only said in the page.
$(VENV)/bench.stamp: $(VENV)/test.stamp
	@echo "hetdp: installing what the benchmarks compare with"
	@$(BIN)/python -m benchmarks.libraries | while read -r library; do \
	  $(PIP_INSTALL) "$$library" || echo "hetdp: $$library cannot be installed here; the page will say so" >&2; done
	@touch $@
