# make demo: install and score the example files; make test: install and run the tests. Both need Python 3.11+ and a package index.
# Targets are relative paths: those of the checkout may hold blanks, which make cannot quote.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
SOURCES := metrics training spaces tests

.PHONY: demo docs test test-all quality style measures mutations lock bench bench-quality bench-judges sizes matrix integrations s3 resolve licences dist vendor clean

demo: $(VENV)/installed-base
	@$(BIN)/genqa-metrics demo

docs: $(VENV)/installed-docs  # spaces/docs/build/html/index.html; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -d spaces/docs/build/doctrees -c spaces/docs spaces/docs/pages spaces/docs/build/html

test: $(VENV)/installed-test
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile -m "not slow"

test-all: $(VENV)/installed-test  # the slow ones too
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

quality: $(VENV)/installed-test
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/codespell $(SOURCES) *.md
	$(BIN)/python -m tests.programs.prose
	$(BIN)/python -m tests.programs.names

style: $(VENV)/installed-test
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

measures: $(VENV)/installed-test  # size, the files that a row passes, import circles, names
	$(BIN)/python -m tests.programs.measures

mutations: $(VENV)/installed-test  # which changes of random lines no test notices; NUMBER=60 SEED=0
	$(BIN)/python -m tests.programs.mutations --number $(or $(NUMBER),60) --seed $(or $(SEED),0)

bench: $(VENV)/installed-test  # writes its tables into tests/programs/benchmarks/results/benchmarks.md
	@test -n "$(DATA)" || { echo "make bench DATA=folder: the folder with judgments/"; exit 2; }
	$(BIN)/python -m tests.programs.benchmarks.bench_all --data "$(DATA)" --write tests/programs/benchmarks/results/benchmarks.md

bench-quality: $(VENV)/installed-test  # the same, of what the faster ways cost
	@test -n "$(DATA)" || { echo "make bench-quality DATA=folder: the folder with judgments/ and written/"; exit 2; }
	$(BIN)/python -m tests.programs.benchmarks.bench_fast --data "$(DATA)" --write tests/programs/benchmarks/results/benchmarks.md

bench-judges: $(VENV)/installed-test  # what each judge of AVA needs; base and large must be downloaded: genqa-metrics download
	@test -n "$(DATA)" || { echo "make bench-judges DATA=folder: the folder with written/"; exit 2; }
	$(BIN)/python -m tests.programs.benchmarks.bench_judges --data "$(DATA)/written/assistant.dev.jsonl.gz" --output tests/programs/benchmarks/results/judges.json

sizes: $(BIN)/python
	$(BIN)/python -m tests.programs.benchmarks.bench_install

matrix: $(VENV)/installed-test  # the modules under the oldest and the newest evaluate, datasets and transformers
	$(BIN)/python -m tests.programs.packaging.matrix

integrations: $(VENV)/installed-test  # each tool of genqa_metrics.integrations in an environment of its own; TOOLS="ragas mlflow" for some
	$(BIN)/python -m tests.programs.packaging.integrations $(TOOLS)

s3: $(VENV)/installed-test  # rows of a bucket into a bucket, on a server of S3 in an environment of its own
	$(BIN)/python -m tests.programs.packaging.s3

resolve: $(VENV)/installed-test  # every version of Python that the package is for
	$(BIN)/python -m tests.programs.packaging.resolve

licences: $(VENV)/installed-test
	@$(BIN)/python -m tests.programs.packaging.licences all

dist: $(VENV)/installed-test
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --outdir dist .  # the same bytes from the same commit

lock: $(BIN)/python  # uv.lock from setup.cfg, then constraints.txt from uv.lock; UPGRADE=--upgrade takes the newest versions
	$(PIP) install --quiet -c constraints.txt uv
	$(BIN)/uv lock --quiet $(UPGRADE)
	$(BIN)/uv export --frozen --quiet --extra test --no-emit-project --no-hashes --no-annotate --no-header | sed 's/ ;.*//' > constraints.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-annotate --no-header -c constraints.txt .github/release.in -o .github/release.txt

vendor: $(BIN)/python  # the script of report pages, from the npm registry, with its digest
	$(BIN)/python -m tests.programs.packaging.vendor

clean:
	rm -rf $(VENV) build dist *.egg-info

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed-base: $(BIN)/python setup.cfg constraints.txt
	@echo "installing into $(VENV), a minute or two the first time"
	$(PIP) install --quiet -c constraints.txt -e .
	touch $@

$(VENV)/installed-docs: $(VENV)/installed-base
	$(PIP) install --quiet -c constraints.txt -e '.[docs]'
	touch $@

$(VENV)/installed-test: $(VENV)/installed-base
	$(PIP) install --quiet -c constraints.txt -e '.[test]'
	touch $@
