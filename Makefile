# Front door. The work is done by scripts/, CMake (CMakePresets.json) and CTest.
.DEFAULT_GOAL := help
.PHONY: help prod findings numbers test torture build install engines turso lint format asan tsan \
        bench-harness bench-statistics \
        bench-numbers clean

# The version that `make turso` builds; empty: the one of the engine turso.
TURSO_VERSION =

# The words behind `pitot prod`, with the shell's quoting: make prod ARGS="--scale 'small'".
# $(value …) hands them to the shell as they were given.
ARGS =

help:
	@echo 'make prod           measure the default engines under the prod workload'
	@echo '                    (ARGS="…" is handed to pitot prod; results/ keeps JSON and HTML)'
	@echo 'make numbers        measure libpitot beside SQLite alone, with two SQLite libraries'
	@echo 'make test           build with tests and sanitizers, check the sources, run all tests'
	@echo 'make build          the optimised binaries: build/pitot, build/pitot-worker'
	@echo 'make install        build, and install below PREFIX (/usr/local), staged in DESTDIR if given'
	@echo 'make engines        build or get the engines, then list them'
	@echo 'make turso          build Turso with Rust: about 8 minutes on two cores, once'
	@echo '                    (TURSO_VERSION=0.7.1 builds another, the engine turso@0.7.1;'
	@echo '                    PITOT_SKIP_TURSO=1 leaves Turso out of the other goals)'
	@echo 'make torture        end pitot and its workers hundreds of times, in every phase'
	@echo '                    (about 10 minutes; ARGS="--kills 1000 --seed 7" for more, or again)'
	@echo 'make lint           check format, include directions and data files; clang-tidy'
	@echo 'make format         format the C sources'
	@echo 'make asan           the fast tests with AddressSanitizer and UBSan'
	@echo 'make tsan           the fast tests with ThreadSanitizer'
	@echo 'make bench-harness  measure the harness itself'
	@echo 'make bench-numbers  what libpitot costs, beside what is promised of it (ratios to a plain loop)'
	@echo 'make bench-statistics  try on simulated tables, and on engines slowed by a known amount,'
	@echo '                    what intervals and verdicts promise'
	@echo 'make findings       docs/findings.md out of the results stored in docs/findings/'
	@echo 'make clean          remove the build folders'

# Quiet, so that the table is not lost behind a hundred lines; warnings and errors still show.
build:
	@scripts/setup
	@echo 'building pitot (build/)' >&2
	@$(page); cmake --preset release -Wno-dev --log-level=WARNING -DPITOT_PAGE="$$page" >/dev/null
	@cmake --build --preset release -- --quiet

PREFIX = /usr/local
DESTDIR =
export PREFIX DESTDIR

# Folders that hold spaces are why the shell, not make, expands both.
install:
	@scripts/setup
	@echo 'building pitot (build/)' >&2
	@$(page); cmake --preset release -Wno-dev --log-level=WARNING -DPITOT_PAGE="$$page" \
	    -DCMAKE_INSTALL_PREFIX="$$(realpath -m -- "$$PREFIX")" >/dev/null
	@cmake --build --preset release -- --quiet
	@cmake --install build

# Status 3 of build-engine-sqlite: no npm; the system's library is measured instead.
engine-sqlite = scripts/build-engine-sqlite || [ $$? -eq 3 ]
# The same of the Node engines: without npm they stay not ready, and pitot says so.
engines-node = scripts/build-engines-node || [ $$? -eq 3 ]
# The same without Rust.
engine-turso = scripts/build-engine-turso || [ $$? -eq 3 ]

# The page of --format html. Status 3: no Node; pitot is built without it, and says how to get it.
page = page=$$(scripts/build-page) || { [ $$? -eq 3 ] && page=; }

prod: build
	@$(engine-sqlite)
	@$(engines-node)
	@$(engine-turso)
	@set -- $(value ARGS); \
	json=no; html=no; name="results/prod-$$(date +%Y%m%d-%H%M%S)"; \
	for word; do case "$$word" in \
	    --json | --json=*) json=yes ;; \
	    --html | --html=*) html=yes ;; \
	    --help | -h) json=yes; html=yes ;; \
	esac; done; \
	scripts/build-page >/dev/null 2>&1 || html=without; \
	[ $$json$$html = yesyes ] || mkdir -p results || exit; \
	[ $$html != no ] || set -- --html "$$name.html" "$$@"; \
	[ $$json != no ] || set -- --json "$$name.json" "$$@"; \
	build/pitot prod "$$@"; status=$$?; \
	[ $$status -eq 0 ] || echo "pitot prod ended with status $$status" >&2; \
	exit $$status

numbers: build
	@$(engine-sqlite)
	@build/pitot numbers $(value ARGS)

engines: build
	@$(engine-sqlite)
	@$(engines-node)
	@$(engine-turso)
	@build/pitot engines

# Words of the shell, as ARGS.
turso:
	@scripts/build-engine-turso $(value TURSO_VERSION)

# The sanitizer builds' tests run in the same CTest run as all others, so that its closing
# lines speak for everything.
# Tests have caches of their own; those of the Node engines and of Turso find what was built by
# the variable.
test:
	@scripts/setup --tests
	@$(engine-sqlite)
	@$(engines-node)
	@$(engine-turso)
	@set -e; $(page); for preset in test asan tsan clang; do \
	    cmake --preset $$preset -Wno-dev --log-level=WARNING -DPITOT_PAGE="$$page"; \
	    cmake --build --preset $$preset; \
	done
	@PITOT_ENGINES_CACHE="$${XDG_CACHE_HOME:-$$HOME/.cache}/pitot/engines" ctest --preset test

# Kills of libpitot's writer in each phase, passes after which nothing may have grown, and calls at
# random from each of several threads.
LIBRARY_KILLS = 100
LIBRARY_PASSES = 1000000
LIBRARY_CALLS = 100000

torture:
	@scripts/setup --tests
	@cmake --preset test -Wno-dev --log-level=WARNING
	@cmake --build --preset test --target pitot pitot-worker library-torture \
	    library-growth library-chaos
	@PYTHON=/usr/bin/python3; [ -x $$PYTHON ] || PYTHON=python3; \
	PYTHONDONTWRITEBYTECODE=1 PITOT_BUILD_FOLDER="$$PWD/build-test" \
	    $$PYTHON tests/torture/torture.py $(value ARGS)
	@build-test/library-torture --kills $(LIBRARY_KILLS)
	@build-test/library-growth --passes $(LIBRARY_PASSES)
	@build-test/library-chaos --calls $(LIBRARY_CALLS)

asan tsan:
	@scripts/setup --tests
	@cmake --preset $@ -Wno-dev --log-level=WARNING
	@cmake --build --preset $@
	@ctest --preset $@

findings:
	@scripts/findings write

lint:
	@scripts/setup --tests
	@scripts/check-format
	@scripts/check-includes
	@scripts/check-files
	@cmake --preset test -Wno-dev --log-level=WARNING
	@scripts/check-tidy build-test

format:
	@scripts/check-format --fix

bench-harness: build
	@bench/harness --build build $(value ARGS)

# With SQLite built from source where there is npm, with the system's otherwise.
bench-numbers: build
	@$(engine-sqlite)
	@bench/numbers --build build $(value ARGS)

bench-statistics: build
	@build/pitot-statistics $(value ARGS)
	@$(engine-sqlite)
	@bench/verdicts --build build

clean:
	rm -rf build build-test build-asan build-tsan build-clang
