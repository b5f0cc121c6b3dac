# Two commands do everything with Python 3.11 or later and make (tests need a C compiler too):
#
#   make demo    makes the environment in .venv and runs the main commands: half a minute
#   make test    makes the environment and runs lint, types, layers, tests and the golden net: minutes
#   make check   runs all other tests as well: searches, fuzzers, browsers, simulators, clusters
#
# Both can be run again at any time; what is already done is not done twice. Further:
#
#   make lint types layers tests golden  the parts of make test
#   make unit                             the tests below a third of a second: a minute
#   make coverage                         which lines the unit tests run
#   make environments                     tests of processes and files in unusual environments
#   make golden                           what commands print and write, beside what is recorded
#   make golden-whole                     the same of everything: minutes
#   make golden-accept                    record what they print and write now
#   make bench-dynamics                   Newton-Euler beside Pinocchio
#   make bench-twolevel                   minimisation beside Espresso; which code is best
#   make bench-evaluate                   torques by logic, on one core and on two
#   make bench-compact                    compact mode: nodes, depth, errors, seconds, every robot
#   make bench-native                     the native engine beside the machine's limit
#   make bench-rivals                     logic beside the best arithmetic there is
#   make bench-kill                       commands killed and interrupted at random moments
#   make bench-certificates               what certificates take, and 1000 changes that must be found
#   make mutants                          how many small faults the unit tests miss; ROOM=words: of a room
#   make docs                             draw the pictures of the pages again, and make a site of them in out/site
#   make bench-check                      ratios beside the committed ones; fails at 15 % loss
#   make clean                            remove the environment and all caches here

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pyeda has no wheels, and gcc 14 and later refuse its C source without this.
PYEDA_FLAGS := -Wno-error=incompatible-pointer-types

# Two processes run tests; those of a file stay together, so that what they share is made once.
WORKERS := -n 2 --dist loadfile

# Tests start hundreds of processes and are collected four times: modules are compiled once.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check static lint types layers unit tests long coverage environments clean help \
  golden golden-whole golden-accept \
  bench-dynamics bench-evaluate bench-twolevel bench-compact bench-native bench-rivals bench-check \
  bench-kill bench-certificates mutants docs

help:
	@awk '/^#/ { sub(/^# ?/, ""); print; next } { exit }' Makefile

demo: $(VENV)/demo.ready
	@$(BIN)/python examples/demo.py

# Installing and compiling the loops are not counted.
test: $(VENV)/loops.ready
	@start=$$(date +%s); $(MAKE) --no-print-directory static tests golden || exit; \
	  seconds=$$(($$(date +%s) - start)); \
	  printf 'make test: lint, types, layers, tests and the golden net passed in %d:%02d\n' \
	    $$((seconds / 60)) $$((seconds % 60))

check: $(VENV)/loops.ready
	@start=$$(date +%s); $(MAKE) --no-print-directory long golden-whole || exit; \
	  seconds=$$(($$(date +%s) - start)); \
	  printf 'make check: all other tests and the whole golden net passed in %d:%02d\n' \
	    $$((seconds / 60)) $$((seconds % 60))

# Side by side: each takes one core.
static: $(VENV)/test.ready
	@$(MAKE) --no-print-directory -j 2 -O lint types layers

lint: $(VENV)/test.ready
	@echo "== lint (ruff)"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/python benchmarks/house.py --check
	@$(BIN)/python benchmarks/prose.py

types: $(VENV)/test.ready
	@echo "== types (mypy --strict)"
	@$(BIN)/mypy

layers: $(VENV)/test.ready
	@echo "== layers (import-linter)"
	@$(BIN)/lint-imports

unit: $(VENV)/loops.ready
	@echo "== unit tests"
	@$(BIN)/pytest -q $(WORKERS) -m "not slow and not check"

tests: $(VENV)/loops.ready
	@echo "== tests"
	@$(BIN)/pytest -q $(WORKERS) --durations=10 -m "not check"

long: $(VENV)/loops.ready
	@echo "== tests of a second and more"
	@$(BIN)/pytest -q $(WORKERS) --durations=10 --timeout 300 -m check

# The quick form takes one core; with WHOLE=1 everything is run, on two.
golden: $(VENV)/loops.ready
	@echo "== golden net"
	@$(BIN)/python -P benchmarks/golden.py $(if $(WHOLE),--whole --jobs 2)

golden-whole: $(VENV)/loops.ready
	@$(MAKE) --no-print-directory golden WHOLE=1

golden-accept: $(VENV)/loops.ready
	@$(BIN)/python -P benchmarks/golden.py --whole --jobs 2 --accept

# Apart, because counting lines doubles the time of the unit tests.
coverage: $(VENV)/loops.ready
	@echo "== coverage of the unit tests"
	@$(BIN)/pytest -q $(WORKERS) -m "not slow and not check" --cov --cov-report=term

environments: $(VENV)/loops.ready
	@PYTHON=$(BIN)/python tests/environments.sh

bench-dynamics: $(VENV)/test.ready
	@$(BIN)/python benchmarks/dynamics.py

bench-evaluate: $(VENV)/loops.ready
	@$(BIN)/python benchmarks/evaluate.py
	@$(BIN)/python benchmarks/processes.py

bench-compact: $(VENV)/loops.ready
	@$(BIN)/python benchmarks/compact.py --all

bench-native: $(VENV)/loops.ready
	@$(BIN)/python benchmarks/native.py

bench-rivals: $(VENV)/loops.ready
	@$(BIN)/boolcomp compile machado-2r --mode paper -o out/2r-paper > /dev/null
	@$(BIN)/boolcomp compile machado-2r -o out/2r > /dev/null
	@$(BIN)/boolcomp bench out/2r --beside out/2r-paper -o out/bench-2r
	@for robot in elbow-3r puma560; do \
	  $(BIN)/boolcomp compile $$robot --rms-error .505 -o out/$$robot > /dev/null; \
	  $(BIN)/boolcomp bench out/$$robot -o out/bench-$$robot || exit 1; done

bench-check: $(VENV)/loops.ready
	@$(BIN)/python benchmarks/bench_check.py

mutants: $(VENV)/loops.ready
	@nice $(BIN)/python benchmarks/mutants.py $(if $(ROOM),--room $(ROOM))

bench-certificates: $(VENV)/loops.ready
	@$(BIN)/python benchmarks/certificates.py
	@$(BIN)/python benchmarks/certificates.py machado-2r --mutations 1000

bench-kill: $(VENV)/loops.ready
	@$(BIN)/python benchmarks/kill.py

bench-twolevel: $(VENV)/loops.ready
	@$(BIN)/python benchmarks/twolevel.py --chart out/minimisation.svg
	@$(BIN)/python benchmarks/codes.py

docs: $(VENV)/test.ready
	@echo "== the pictures of the pages"
	@$(BIN)/python docs/make_pictures.py
	@echo "== the generated parts of the pages"
	@$(BIN)/python docs/make_reference.py
	@echo "== the site"
	@$(BIN)/python docs/make_site.py

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "make: $(PYTHON) is missing: install Python 3.11 or later, or say PYTHON=…"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: $(PYTHON) is older than 3.11: install a later Python, or say PYTHON=…"; exit 1; }
	@echo "== making the environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "make: the venv module is missing (Debian: python3-venv)"; exit 1; }

$(VENV)/demo.ready: pyproject.toml $(VENV)/bin/python
	@echo "== installing boolcomp"
	@$(BIN)/pip install -qq --disable-pip-version-check -e '.[plots,abc]'
	@CFLAGS="$(PYEDA_FLAGS)" $(BIN)/pip install -qq --disable-pip-version-check -e '.[espresso]' \
	  > /dev/null 2>&1 || \
	  echo "== without pyeda, which needs a C compiler: --minimizer espresso is not available"
	@touch $@

$(VENV)/test.ready: $(VENV)/demo.ready
	@command -v cc >/dev/null || command -v gcc >/dev/null || \
	  { echo "make: a C compiler (cc or gcc) is missing: tests of exported C need one"; exit 1; }
	@echo "== installing what tests and lint need"
	@$(BIN)/pip install -qq --disable-pip-version-check -e '.[test,dev,docs,cluster]'
	@touch $@

# numba compiles the minimisers' loops once; a test's time should not hold that.
$(VENV)/loops.ready: $(wildcard boolcomp/*/*kernels*.py boolcomp/*/*/*kernels*.py) $(VENV)/test.ready
	@echo "== compiling the minimisers' loops (once)"
	@$(BIN)/python -c 'from boolcomp.twolevel.minimisation import warm; \
	  from boolcomp.twolevel.exact import warm_exact; \
	  warm(dense=True); warm(dense=False); warm_exact(); \
	  from boolcomp.logic.synthesis import warm; warm()'
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage dist
