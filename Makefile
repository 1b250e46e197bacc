# `make demo` and `make test` set up whatever they need. See README.md.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready
READY_TESTS := $(VENV)/.ready-tests
BIN := $(VENV)/bin

.PHONY: demo test fuzz bench check format setup firmware wheel clean

setup: $(READY)

$(READY): setup.sh pyproject.toml constraints.txt
	@PYTHON='$(PYTHON)' ./setup.sh

# The tools that only tests use: a demo does not wait for them.
$(READY_TESTS): setup.sh | $(READY)
	@./setup.sh tests

firmware: $(READY)
	@$(MAKE) --no-print-directory -C firmware
	@$(MAKE) --no-print-directory -C twin/chip

demo: firmware
	$(BIN)/rig demo

# The longest tests stand together, and come first: whoever is through takes half of what the other has left.
test: firmware $(READY_TESTS)
	$(BIN)/python -m pytest -n 2 --dist worksteal tests

# Hours of fuzzing of the firmware's core; FUZZ_SECONDS=60 for a taste.
fuzz:
	@$(MAKE) --no-print-directory -C firmware fuzz

bench: firmware
	$(BIN)/python -m benchmarks

# Formatter, linter, types and who may import whom: the same here and in CI.
check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# A release: the package with the firmware in it.
wheel: firmware
	cp build/firmware/cannon-uno.hex rig/cannon-uno.hex
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/dist . ; status=$$?; rm rig/cannon-uno.hex; exit $$status

clean:
	rm -rf build
