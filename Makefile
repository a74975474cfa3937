# `make demo` and `make test` need nothing but Python 3.11 or later, git and a package index.
PYTHON ?= python3
# What is tested: this folder, or a wheel that was built from it.
PACKAGE ?= .
PARTS = -p firstpage.core -p firstpage.readers -p firstpage.eval -p firstpage.scripts -p firstpage.serve -p firstpage.train

.PHONY: demo test format bench figures clean

demo: .venv/installed
	.venv/bin/python -m firstpage.scripts.demo

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --editable '.[eval,learned]'
	touch $@

# Installed as a user would have it, not editable, so that a forgotten folder or data file fails here.
test:
	rm -rf build
	$(PYTHON) -m venv .venv-test
	.venv-test/bin/python -m pip install --quiet --force-reinstall --no-deps '$(PACKAGE)'
	.venv-test/bin/python -m pip install --quiet '$(PACKAGE)[dev]'
	.venv-test/bin/ruff check .
	.venv-test/bin/ruff format --check .
	.venv-test/bin/mypy $(PARTS)
	.venv-test/bin/python -m pytest

format:
	.venv-test/bin/ruff check --fix .
	.venv-test/bin/ruff format .

# To be run on a quiet machine; the documents show what is written here.
bench:
	.venv-test/bin/python -m pytest tests/benchmarks --benchmark-only --benchmark-json=eval/results/speed.json

figures:
	.venv-test/bin/python -m firstpage.scripts.figures

clean:
	rm -rf .venv .venv-test build dist out *.egg-info
