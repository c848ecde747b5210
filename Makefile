# Thin over CMake's presets: what each target does is one or two commands. `make help` lists them.
.DEFAULT_GOAL := build
.PHONY: help build run demo test unit crash e2e e2e-sqlite e2e-postgresql bench check asan tsan fuzz fresh clean
SHELL := /bin/sh
E2E := test/e2e
NODE_MODULES := $(E2E)/node_modules/.package-lock.json
CTEST := ctest --output-on-failure -j 4 --timeout 600 --no-tests=error
# The tests of rules run on both store engines where a PostgreSQL server is given.
BOTH_ENGINES = PG_CLUSTER_FSYNC=off scripts/pg-cluster with "$$(mktemp -d /tmp/portero-pg-XXXXXX)"
FUZZ_RUNS_CHECK := 50000
SOURCES := $(shell find src test bench -name '*.[ch]' -not -path '*/node_modules/*' 2>/dev/null)

help: ## this list
	@sed -n 's/^\([a-z0-9 -]*\):.*## /\1\t/p' Makefile | expand -t 18

build: ## the daemon, as build/portero; installs missing Debian packages first
	scripts/setup build
	cmake --preset release
	cmake --build --preset release

run: build ## starts the service in the sandbox with portero.conf
	exec build/portero serve --config portero.conf

demo: build ## a visitor's call from sign-in to the open door, against a service of its own
	scripts/setup demo
	command -v node >/dev/null || scripts/setup test
	scripts/demo

test: build $(NODE_MODULES) ## everything: unit tests, crash tests, end to end on both store engines
	cmake --build --preset release --target unit_tests crash_tests
	$(BOTH_ENGINES) $(CTEST) --test-dir build
	$(MAKE) --no-print-directory e2e-sqlite
	$(MAKE) --no-print-directory e2e-postgresql

unit: build ## unit tests of the release build
	scripts/setup test
	cmake --build --preset release --target unit_tests
	$(BOTH_ENGINES) $(CTEST) -LE crash --test-dir build

crash: build ## acknowledged writes survive kill -9 and a simulated loss of power
	cmake --build --preset release --target crash_tests
	$(CTEST) -L crash --test-dir build

e2e: e2e-sqlite e2e-postgresql ## the real daemon and real peers, on both store engines
e2e-sqlite e2e-postgresql: e2e-%: build $(NODE_MODULES)
	node $(E2E)/run.js --engine $*

$(NODE_MODULES): $(E2E)/package-lock.json
	scripts/setup test
	npm ci --prefix $(E2E) --no-audit --no-fund
	touch $@

bench: build ## measures; each figure with the limit measured in the same run
	scripts/setup bench
	cmake --build --preset release --target benches
	bench/run

asan tsan: ## unit tests under AddressSanitizer and UBSan, or under ThreadSanitizer
	scripts/setup test
	cmake --preset $@
	cmake --build --preset $@ --target unit_tests
	$(CTEST) -LE crash --test-dir build/$@

fuzz: ## every fuzzer for FUZZ_SECONDS (10) each
	scripts/setup check
	cmake --preset fuzz
	cmake --build --preset fuzz
	scripts/fuzz

check: ## format, layers, documents, commit messages, cppcheck, clang's warnings, clang-tidy, fuzzers on the same inputs, hardening
	scripts/setup check
	clang-format --dry-run -Werror $(SOURCES)
	scripts/check-docs
	scripts/check-commits
	cmake --preset fuzz
	cmake --build --preset fuzz --target generated_headers
	cppcheck --quiet -j 2 --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
	    --suppress=missingIncludeSystem --library=posix,gnu -I src -I build/fuzz/generated src
	cmake --build --preset fuzz
	cmake --build --preset fuzz --target warnings
	find src -name '*.c' | xargs -P 2 -n 1 clang-tidy -p build/fuzz --quiet
	FUZZ_RUNS=$(FUZZ_RUNS_CHECK) scripts/fuzz
	$(MAKE) --no-print-directory build
	scripts/check-layers
	scripts/check-hardening build/portero

fresh: ## the README on a minimal Debian 12, made for it: FRESH="run test" for some stages, scripts/fresh --help for all
	scripts/fresh $(FRESH)

clean: ## removes what was built; the service's data in var/ stays
	rm -rf build $(E2E)/node_modules bench/peer/node_modules
