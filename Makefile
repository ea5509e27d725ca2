# Everything that people and CI do here. `make` lists it.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

VENV := .venv
PY := $(VENV)/bin/python
BOOK_READY := $(VENV)/.book-installed
DEV_READY := $(VENV)/.dev-installed
TIME = $(PY) -m primer_book.ledger time
PORT ?= 8000
# Processes for the tests.
JOBS ?= 2
WITHOUT_SLOW := not slow
BENCHMARKS := cache matmul occupancy warps systolic
UNIT := not built and not browser and not lab and not slow

export PYTHONPATH := $(CURDIR)/book/_ext

.PHONY: help book quick test test-all check bench notebooks serve clean \
	lint types layers doctests notebooks-check unit chromium all-tests fresh-ledger

help:  ## list these targets
	@echo "make TARGET, where TARGET is one of:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-12s %s\n", $$1, $$2}'

book: $(BOOK_READY)  ## build the book into _build/html
	@$(PY) book/build.py

quick: fresh-ledger lint types layers unit  ## lint, types and unit tests (3 minutes at most)
	@$(PY) -m primer_book.ledger report

test: MARKED := $(WITHOUT_SLOW)
test: fresh-ledger check chromium all-tests  ## everything that a change can break: check, book, all tests

test-all: MARKED :=
test-all: fresh-ledger check chromium all-tests  ## the same, and the slow tests

check: lint types layers doctests notebooks-check book  ## lint, types, layers, doctests, notebooks, book without a warning

bench: $(DEV_READY) book chromium  ## compare speed and weight with plain alternatives and with peers
	@$(PY) benchmarks/run.py
	@for peer in $(BENCHMARKS); do echo; echo "$$peer:"; $(PY) benchmarks/$$peer.py || exit 1; done

notebooks: $(BOOK_READY)  ## write notebooks/ anew from chapters/
	@$(PY) -m primer_book.notebooks

serve:  ## show the built book on this machine (PORT=8000)
	@test -e _build/html/index.html && test ! -e _build/html/.unfinished || \
		{ echo "There is no complete book in _build/html. Build it first: make book" >&2; exit 1; }
	@echo "http://127.0.0.1:$(PORT)/ (Ctrl-C ends it)"
	@$(PY) -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

clean:  ## remove all that was built (the environment .venv stays)
	rm -rf _build .jupyter_cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -path ./$(VENV) -prune -o -path ./.git -prune -o \
		\( -name __pycache__ -o -name .ipynb_checkpoints -o -name '*.egg-info' \) -prune -exec rm -rf {} +

# --- the parts -----------------------------------------------------------------

fresh-ledger:
	@rm -f _build/ledger.json

lint: $(DEV_READY)
	@$(TIME) lint -- sh -c '$(PY) -m ruff check . && $(PY) -m ruff format --check .'

types: $(DEV_READY)
	@$(TIME) types -- $(PY) -m mypy

layers: $(DEV_READY)
	@$(TIME) layers -- $(PY) -c 'from importlinter.cli import lint_imports_command as run; run()'

doctests: $(DEV_READY)
	@$(TIME) doctests -- $(PY) -m pytest -q --doctest-modules src/primer

notebooks-check: $(DEV_READY)
	@$(TIME) notebooks -- $(PY) -m primer_book.notebooks --check

unit: $(DEV_READY)
	@$(PY) -m pytest -q -n $(JOBS) --dist loadfile -m "$(UNIT)" --ignore=tests/browser \
		--ledger=_build/ledger.json

chromium: $(DEV_READY)
	@$(TIME) chromium -- $(PY) -m tests.browser.chromium

all-tests: $(DEV_READY)
	@status=0; \
	$(PY) -m pytest -n $(JOBS) --dist loadfile -m "$(MARKED)" --ledger=_build/ledger.json || status=$$?; \
	echo; $(PY) -m primer_book.ledger report || status=1; \
	exit $$status

# --- the environment -----------------------------------------------------------

# A stamp is younger than what it was installed from, or the installation runs again.
$(BOOK_READY): requirements.txt pyproject.toml
	@$(create_venv)
	@echo "Installing the pinned packages into $(VENV) (some minutes, 1.6 GB, the first time) ..."
	@start=$$(date +%s); \
	$(PY) -m pip install -qq --disable-pip-version-check -r requirements.txt && \
	$(PY) -m primer_book.ledger add setup $$(( $$(date +%s) - start ))
	@touch $@

$(DEV_READY): requirements-dev.txt $(BOOK_READY)
	@$(PY) -m pip install -qq --disable-pip-version-check -r requirements-dev.txt
	@$(PY) -m pip check --disable-pip-version-check
	@touch $@

# Python 3.11 is the tested one, so it goes first. A name on the PATH proves nothing (it can be
# a version manager's stub, or come without venv), so each is tried.
define create_venv
if ! $(PY) -c '' 2>/dev/null; then \
	for python in $(or $(PYTHON),python3.11 python3.12 python3.13 python3.14 python3 python); do \
		if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
			>/dev/null 2>&1; then \
			echo "Making $(VENV) with $$python ..."; \
			exec "$$python" -m venv --clear $(VENV); \
		fi; \
	done; \
	echo "The book needs Python 3.11 or newer, with its venv module (on Debian and Ubuntu:" >&2; \
	echo "apt install python3 python3-venv). None of these has both:" >&2; \
	echo "$(or $(PYTHON),python3.11 python3.12 python3.13 python3.14 python3 python)." >&2; \
	echo "Name another with: make PYTHON=/path/to/python ..." >&2; \
	exit 1; \
fi
endef
