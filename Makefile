# make demo       create .venv, install the package, run the demonstration
# make quick      run the tests of the mathematics and of a step, for work in progress
# make test       run all tests but the slow ones (PYTEST_ARGS="-k boxes" and the like are passed on)
# make slow       run the slow ones
# make lint       ruff, and import-linter for the layers
# make typecheck  mypy, strict
# make tutorials  execute every notebook with small budgets, compare its words with those stored
# make docs       the site in build/docs; open build/docs/index.html
# make extras     build an environment for each extra alone, and import there what it is for
# make results    all benchmarks anew, resumably (hours: ARGS=--list tells how many); needs ARGS="--records DIR"
# make check-results  the report and its table from the committed records; fails if they differ
# make dist       wheel and source archive in dist, checked
# make clean      remove what the targets above wrote, except .venv
# make distclean  remove .venv too

PYTHON ?= python3
PYTEST_ARGS ?=
ARGS ?=

# Two threads make the small GP fits of this package many times slower than one.
export OMP_NUM_THREADS = 1

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
# The way from data to a box; runs, hosts and benchmarks are left to `make test`.
QUICK = $(addprefix tests/,acquisition models policies posterior records spaces strategies test_boxes.py)

# One environment, three sizes; each stamp says that its extras are installed.
DEMO := $(VENV)/.installed-demo
CHECK := $(VENV)/.installed-check
ALL := $(VENV)/.installed-all

.PHONY: demo quick test slow lint typecheck tutorials docs extras results check-results dist clean distclean
.NOTPARALLEL:
.DEFAULT_GOAL := demo

demo: $(DEMO)
	$(BIN)/python -m botorch_ubo demo $(ARGS)

quick: $(CHECK)
	$(BIN)/python -m pytest -n 2 -q -m "not slow" $(QUICK) $(PYTEST_ARGS)

test: $(CHECK)
	$(BIN)/python -m pytest -n 2 -q -m "not slow" $(PYTEST_ARGS)

slow: $(ALL)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -q -m slow $(PYTEST_ARGS)

lint: $(CHECK)
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache --no-logo

typecheck: $(CHECK)
	$(BIN)/mypy

tutorials: $(ALL)
	$(BIN)/python tutorials/run.py

docs: $(ALL)
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/docs

extras: $(CHECK)
	$(BIN)/python -m tests.support.extras $(ARGS)

results: $(ALL)
	$(BIN)/python -m benchmarks results $(ARGS)

check-results: $(ALL)
	$(BIN)/python -m benchmarks results --check $(ARGS)

dist: $(CHECK)
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

clean:
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -not -path "./$(VENV)/*" -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)

$(VENV)/.created:
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(DEMO): pyproject.toml constraints.txt | $(VENV)/.created
	@echo "installing botorch_ubo for the demo into $(VENV) (the first time takes a minute or more)"
	@$(PIP) -e '.[plot]'
	@touch $@

# A larger installation covers the smaller ones, so it renews their stamps as well.
$(CHECK): pyproject.toml constraints.txt | $(VENV)/.created
	@echo "installing botorch_ubo with its tests' tools into $(VENV) (the first time takes a minute or more)"
	@$(PIP) -e '.[plot,test,dev]'
	@touch $(DEMO) $@

$(ALL): pyproject.toml constraints.txt | $(VENV)/.created
	@echo "installing botorch_ubo with all its extras into $(VENV) (the first time takes some minutes)"
	@$(PIP) -e '.[plot,report,test,dev,dask,scipy,gest,optuna,ax,tutorials,benchmarks,docs]'
	@touch $(DEMO) $(CHECK) $@
