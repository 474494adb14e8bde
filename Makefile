# Every target sets up what it needs first; a second time that costs nothing.
.PHONY: help setup compile demo test test-source test-slow test-browser lint format bench docs lock

help:
	@echo "make demo    set up and play a first Dam tournament, ending with the leaderboard"
	@echo "make test    set up and run the tests (test-slow, test-browser: the rest; test-source: the"
	@echo "             rules and the table loop not compiled)"
	@echo "make lint    formatting, lint, types, import contracts"
	@echo "make bench   speed, as ratios measured in one run"
	@echo "make compile build the compiled modules anew after a change of the source"
	@echo "make format  format the code    make lock  resolve requirements.lock anew"
	@echo "make docs    write the generated pages of docs/ anew"

setup:
	@scripts/setup

compile: setup
	@.venv/bin/python -m tourney.compiled

demo: setup
	@.venv/bin/tourney run configs/quickstart.toml

test: setup
	@.venv/bin/python -m pytest -q

test-source: setup
	@TOURNEY_COMPILED=0 .venv/bin/python -m pytest -q tests/unit/games tests/unit/referee tests/golden tests/match

test-slow: setup
	@.venv/bin/python -m pytest -q -m slow --timeout 900

test-browser: setup
	@.venv/bin/python -m pytest -q -m browser --timeout 300

lint: setup
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports

format: setup
	@.venv/bin/ruff format .
	@.venv/bin/ruff check --fix .

bench: compile
	@.venv/bin/python -m pytest -q -s -m bench --timeout 900 tests/bench

docs: setup
	@.venv/bin/python -m tourney.protocol.schema > docs/protocol.schema.json
	@.venv/bin/python -m tourney.config.reference > docs/config.md

lock: setup
	@.venv/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
		--no-annotate --group dev --group browser --group oracles pyproject.toml -o requirements.lock
