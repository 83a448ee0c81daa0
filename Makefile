# make demo: install and score the example files; make test: install and run the tests. Both need Python 3.11+ and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
SOURCES := metrics training tests

.PHONY: demo test quality style copies bench clean

demo: $(VENV)/installed-base
	@$(BIN)/genqa-metrics demo

test: $(VENV)/installed-test
	$(BIN)/python -m pytest

quality: $(VENV)/installed-test
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

style: $(VENV)/installed-test
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

copies:  # shared.py of aev is the original
	for metric in metrics/*/shared.py; do cmp -s metrics/aev/shared.py $$metric || cp metrics/aev/shared.py $$metric; done

clean:
	rm -rf $(VENV) build dist *.egg-info

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed-base: $(BIN)/python setup.cfg constraints.txt
	$(PIP) install --quiet -c constraints.txt -e .
	touch $@

$(VENV)/installed-test: $(VENV)/installed-base
	$(PIP) install --quiet -c constraints.txt -e '.[test]'
	touch $@
