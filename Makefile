# Everything here does its own set-up: a fresh clone needs Python 3.11 or newer, git and make, no more.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check lint bench lock

help: ## list what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | awk -F '\t' '{ printf "  make %-7s %s\n", $$1, $$2 }'

demo: ## tell the whole story on an embedded sample service
	@scripts/setup requirements.lock
	@.venv/bin/python local_runner.py --demo

test: ## run the tests that this machine allows; ARGS="-k word" narrows them
	@scripts/setup requirements-dev.lock
	@.venv/bin/python -m pytest $(ARGS)

check: ## all that a change must pass: format, lint, layers, types, tests
	@scripts/setup requirements-dev.lock
	@scripts/check

lint: ## the same without the tests
	@scripts/setup requirements-dev.lock
	@scripts/check lint

bench: ## measure against the peers and floors; fails when a target is missed
	@scripts/setup requirements-dev.lock
	@.venv/bin/python bench/run.py $(ARGS)

lock: ## write the lock files anew from pyproject.toml (needs uv); ARGS=--upgrade takes newer versions
	@scripts/lock $(ARGS)
