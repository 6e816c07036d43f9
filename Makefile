# make demo       create .venv, install the package, run the demonstration
# make test       run the tests (PYTEST_ARGS="-m 'not slow'" and the like are passed on)
# make lint       ruff
# make typecheck  mypy, strict
# make tutorials  execute every notebook with small budgets
# make docs       API pages in build/docs
# make clean      remove what the targets above wrote, except .venv
# make distclean  remove .venv too

PYTHON ?= python3
PYTEST_ARGS ?=

# Two threads make the small GP fits of this package many times slower than one.
export OMP_NUM_THREADS = 1

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
NOTEBOOKS = $(sort $(wildcard tutorials/*.ipynb))

# What a user may want to read beside the names in `botorch_ubo` itself.
PARTS = beta boxes context factories kernel_reach methods models quick_fit quick_gp quick_search plotting posterior radius testing triggers
SOURCES = $(wildcard botorch_ubo/acquisition/[a-z]*.py botorch_ubo/strategies/[a-z]*.py)
MODULES = botorch_ubo $(PARTS:%=botorch_ubo.%) botorch_ubo.acquisition botorch_ubo.strategies \
	$(subst /,.,$(basename $(sort $(SOURCES))))

# One environment, three sizes; each stamp says that its extras are installed.
DEMO := $(VENV)/.installed-demo
CHECK := $(VENV)/.installed-check
ALL := $(VENV)/.installed-all

.PHONY: demo test lint typecheck tutorials docs clean distclean
.NOTPARALLEL:
.DEFAULT_GOAL := demo

demo: $(DEMO)
	$(BIN)/python -m botorch_ubo.demo

test: $(CHECK)
	$(BIN)/python -m pytest -n 2 -q $(PYTEST_ARGS)

lint: $(CHECK)
	$(BIN)/ruff check .

typecheck: $(CHECK)
	$(BIN)/mypy

tutorials: $(ALL)
	@if [ -z "$(NOTEBOOKS)" ]; then echo "no notebooks in tutorials/ yet: nothing to run"; fi
	@mkdir -p build/tutorials
	@for notebook in $(NOTEBOOKS); do \
		echo "running $$notebook"; \
		SMOKE_TEST=1 $(BIN)/papermill --no-progress-bar --kernel python3 --cwd tutorials \
			--execution-timeout 300 "$$notebook" "build/$$notebook" || exit 1; \
	done

docs: $(ALL)
	$(BIN)/pdoc --docformat google --math -o build/docs $(MODULES)

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
	@$(PIP) -e '.[plot,test,dev,dask,tutorials,benchmarks,docs]'
	@touch $(DEMO) $(CHECK) $@
