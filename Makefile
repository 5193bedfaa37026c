# Two commands are all anyone must know: `make demo` and `make test`. Each sets itself up in .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo quick test check format bench bench-curves bench-peers audit docs clean
setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

demo: setup
	$(BIN)/elsewhere demo --out demo

quick: setup .venv/.node
	$(BIN)/python -m pytest --quick

test: setup .venv/.node
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	$(BIN)/python benchmarks/run.py

# What is known is not measured again: remove bench-curves.json, or say CURVES="--panel places --again".
bench-curves: setup
	$(BIN)/python benchmarks/curves.py $(CURVES)

bench-peers: setup
	$(BIN)/python benchmarks/peers.py

audit: setup .venv/.fuzz
	ELSEWHERE_ALL_EXAMPLES=1 $(BIN)/python -m pytest -m 'audit or hypothesis'
	PYTHONPATH=tests:audits $(BIN)/python audits/full_audit.py
	PYTHONPATH=tests:audits $(BIN)/python audits/fuzz_collector.py

# In an environment of its own: it brings a plugin that every run of pytest would load.
.venv/.fuzz: .venv/.ready
	$(PYTHON) -m venv .venv/fuzz
	.venv/fuzz/bin/python -m pip install --quiet --constraint constraints.txt schemathesis
	touch $@

# What tests of pages need: TypeScript, axe, and a Chromium where the machine has none. Nothing is shipped.
.venv/.node: .venv/.ready tests/browser/get_chromium.mjs
	@if command -v npm >/dev/null; then \
	  npm install --prefix .venv/node --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
	    typescript@5.9 axe-core@4.14 @sparticuz/chromium@153 && \
	  { command -v chromium >/dev/null || \
	    node tests/browser/get_chromium.mjs .venv/node/node_modules/@sparticuz/chromium .venv/browser; } \
	else echo "No npm here: tests of pages will be skipped"; fi
	touch $@

docs: .venv/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.venv/.docs: .venv/.ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

clean:
	rm -rf .venv demo build site bench.json bench-curves.json bench-peers.json
