# The commands of a developer, each in a line or two: `make help` lists them. build.mk builds the programs.
.DEFAULT_GOAL := build
.PHONY: help build run demo cluster clients test test-cluster test-cluster-quick install deb deb-twice image check-generators check-homeassistant peers check-package check-image check-systemd programs native-tests unit test-plans crash e2e e2e-sqlite e2e-postgresql e2e-cover upgrade upgrade-package bench bench-smoke asan-programs asan tsan-programs tsan fuzz fuzz-check fuzzers check lint check-build fresh check-ci clean
SHELL := /bin/sh
PREFIX := /usr/local
E2E := test/e2e
NODE_MODULES := $(E2E)/node_modules/.package-lock.json
CORES := $(shell nproc)
# Jobs of its own, unless this make has some to share.
BUILD = $(BUILD_NICE) $(MAKE) -f build.mk $(if $(findstring jobserver,$(MAKEFLAGS)),,-j $(CORES))
# End-to-end files of check-systemd: between them all that the service does with files, networks, processes and speech.
# None that kills or stops a service: only its wrapper would notice.
UNIT_FILES := signin webhooks messages metrics voice-media greetings trunks proxy
# Set by .ci/run, so that compilers leave the processor to the tests that run at the same time, and
BUILD_NICE :=
# so that a test that fails runs once more, and its first failure is reported.
UNIT_AGAIN :=
E2E_AGAIN :=
CLUSTER_AGAIN :=
# Gives the unit tests a PostgreSQL server, so that they run on both store engines.
BOTH_ENGINES = PG_CLUSTER_FSYNC=off scripts/pg-cluster with "$$(mktemp -d -t portero-pg-XXXXXX)"
SOURCES := $(shell find src test bench -name '*.[ch]' -not -path '*/node_modules/*' 2>/dev/null)

# Debian 12's Node.js cannot require() an ES module. A later one must not hide that.
clients e2e e2e-sqlite e2e-postgresql e2e-cover upgrade: export NODE_OPTIONS = $(shell node --no-experimental-require-module -e 0 2>/dev/null && echo --no-experimental-require-module)

native-tests unit crash e2e e2e-sqlite e2e-postgresql e2e-cover upgrade asan tsan test-cluster test-cluster-quick: export TMPDIR = $(shell scripts/test-tmpdir)

help: ## this list
	@sed -n 's/^\([a-z0-9 -]*\):.*## /\1\t/p' Makefile | expand -t 18

build: ## the programs, as build/porterod and build/portero; installs missing Debian packages first
	scripts/setup build
	+$(BUILD)

run: build ## starts the service in the sandbox with portero.conf
	exec build/porterod serve --config portero.conf

demo: build ## a visitor's call from sign-in to the open door, against a service of its own
	scripts/setup demo
	command -v node >/dev/null || scripts/setup test
	scripts/demo

cluster: build ## two nodes on three PostgreSQL servers that fail over, to try: Patroni, etcd, HAProxy
	scripts/setup cluster
	exec scripts/cluster run

test: native-tests e2e upgrade ## everything: unit tests, crash tests, end to end on both store engines, an upgrade

native-tests: programs
	$(BOTH_ENGINES) scripts/unit-tests $(UNIT_AGAIN)

unit: programs ## unit tests of the release build
	$(BOTH_ENGINES) scripts/unit-tests --unit

test-plans: build ## PostgreSQL's plans of every statement on ten million grants and log entries: half an hour, 20 GB of disk
	scripts/setup test
	+$(BUILD) build/store_spread_test
	PG_CLUSTER_OPTIONS="-c shared_buffers=1GB -c max_wal_size=8GB -c autovacuum=off" PORTERO_TEST_ROWS=10000000 \
	    $(BOTH_ENGINES) build/store_spread_test

crash: programs ## acknowledged writes survive kill -9 and a simulated loss of power
	scripts/unit-tests --crash

e2e: build clients ## the real daemon and real peers, on both store engines
	node $(E2E)/run.js $(E2E_AGAIN)
e2e-sqlite e2e-postgresql: e2e-%: build clients
	node $(E2E)/run.js --engine $*

e2e-cover: build clients ## which files CI runs on PostgreSQL: runs all there, and writes test/e2e/postgresql.txt
	node $(E2E)/cover.js

clients: build $(NODE_MODULES) ## the packages of clients/, of the program's own OpenAPI document, in build/clients
	build/portero openapi >build/openapi.json
	{ find clients -type f; echo build.mk build/openapi.json LICENSE $(E2E)/package-lock.json web/site/icons/icon-512.png | tr ' ' '\n'; } | sort | \
	    flock build/clients.lock scripts/once --makes build/clients node clients/build.mjs

upgrade: build $(NODE_MODULES) ## an upgrade and its undoing under load, with the earlier program of test/e2e/earlier/REVISION
	$(BUILD_NICE) scripts/earlier
	node $(E2E)/run.js $(E2E_AGAIN) $(E2E)/earlier/upgrade.test.js

programs: build
	scripts/setup test
	+$(BUILD) unit_tests crash_tests

$(NODE_MODULES): $(E2E)/package-lock.json
	scripts/setup test
	scripts/npm ci --prefix $(E2E) --no-audit --no-fund --ignore-scripts
	touch $@

test-cluster: build $(NODE_MODULES) ## breaks a cluster while clients write, for an hour: SCENARIOS="failover cut" and TIMES=3 for some
	scripts/setup cluster
	node test/cluster/run.js $(if $(TIMES),--times $(TIMES)) $(SCENARIOS)
test-cluster-quick: build $(NODE_MODULES) ## the same in a few minutes
	scripts/setup cluster
	node test/cluster/run.js --quick $(CLUSTER_AGAIN) $(SCENARIOS)

upgrade-package: deb ## the Debian packages of an earlier commit are upgraded to these with its data, and back
	scripts/earlier --package
	scripts/fresh install

bench: build ## measures; each figure with the limit measured in the same run
	bench/run

bench-smoke: build ## shows that every measurement can run, with tiny counts; about a minute
	bench/run --smoke

asan-programs:
	scripts/setup check
	+$(BUILD) KIND=asan unit_tests

asan: asan-programs ## unit tests under AddressSanitizer and UBSan
	scripts/unit-tests --build build/asan --unit $(UNIT_AGAIN)

tsan-programs:
	scripts/setup check
	+$(BUILD) KIND=tsan thread_tests

tsan: tsan-programs ## unit tests that can start a thread, under ThreadSanitizer
	scripts/unit-tests --build build/tsan --threads $(UNIT_AGAIN)

fuzz: fuzzers ## every fuzzer for FUZZ_SECONDS (10) each
	scripts/fuzz

fuzz-check: fuzzers ## every fuzzer on the same 50 000 inputs each time
	FUZZ_RUNS=50000 scripts/fuzz

fuzzers:
	scripts/setup check
	+$(BUILD) KIND=asan fuzzers

install: build ## installs below PREFIX (/usr/local), and the configuration in /etc; DESTDIR=DIR puts all of it below DIR
	$(MAKE) -f build.mk install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)

deb: ## the Debian packages, in build/deb
	scripts/setup package
	scripts/deb

deb-twice: ## the same, built twice in different surroundings, which must not differ in a byte
	scripts/setup package
	scripts/deb --again

image: ## a container image of the packages in build/deb, with buildah
	scripts/setup image
	scripts/image $(IMAGE)

check-generators: build $(NODE_MODULES) ## clients that public generators make of the OpenAPI document tell a story; needs Node.js 20.19
	scripts/npm ci --prefix test/generators --no-audit --no-fund --ignore-scripts
	node --test test/generators/*.test.js

peers: build $(NODE_MODULES) ## the conformance tests of the Model Context Protocol, and its Inspector's command line; 330 MB of packages
	scripts/npm ci --prefix test/peers --no-audit --no-fund --ignore-scripts
	node --test test/peers/*.test.js

check-homeassistant: build $(NODE_MODULES) ## the integration in Home Assistant itself; needs Python 3.13 and PyPI, or HOMEASSISTANT_PYTHON
	test -n "$(HOMEASSISTANT_PYTHON)" || test -x build/homeassistant/bin/pytest || { python3.13 -m venv build/homeassistant && \
	    build/homeassistant/bin/pip install --quiet --requirement clients/homeassistant/tests/core/requirements.txt; }
	node --test test/homeassistant/*.test.js

check-package: build $(NODE_MODULES) ## what an installation has: files, manual pages, completions, the unit's protections
	scripts/setup inspection
	node --test test/package/*.test.js

check-image: image ## the container image is made, started read-only, asked and stopped; as root
	test/package/image

check-systemd: build $(NODE_MODULES) ## the package's units under a systemd that is process 1, in a container; as root
	scripts/setup systemd
	test/package/systemd/boot node --test test/package/systemd/unit.test.js
	test/package/systemd/boot node --test test/package/systemd/takeover.test.js
	test/package/systemd/boot node --test test/package/systemd/starts.test.js
	test/package/systemd/boot test/package/systemd/e2e $(addsuffix .test.js,$(UNIT_FILES))

check: lint fuzz-check check-build ## everything that is neither a test nor a benchmark

lint: build $(NODE_MODULES) ## format, documents, English, names, sizes, texts, types of the pages' scripts, commit messages, clang's warnings, clang-tidy and cppcheck
	scripts/setup check
	@clang-format --dry-run -Werror $(SOURCES)
	scripts/check-docs
	scripts/check-behaviour
	scripts/check-english
	scripts/check-names
	scripts/check-cursors
	scripts/check-sizes
	scripts/check-texts
	node web/types.mjs
	$(E2E)/node_modules/.bin/tsc -p web/site/jsconfig.json
	scripts/check-commits
	+$(BUILD) KIND=clang warnings
	scripts/tidy

check-build: build ## who may use whom, the protections of the binaries, and portero as a program for any Unix system
	scripts/setup check
	scripts/check-layers
	scripts/check-hardening build/porterod
	scripts/check-hardening build/portero
	scripts/portable

fresh: ## what the pages print, typed on a minimal Debian made for it: FRESH="run test" for some stages, SUITE=trixie for Debian 13
	scripts/fresh $(if $(SUITE),--suite $(SUITE)) $(FRESH)

check-ci: ## plants faults that .ci/run must find, one after the other; as root, an hour
	scripts/check-ci

clean: ## removes what was built; the service's data in var/ stays
	rm -rf build $(E2E)/node_modules test/generators/node_modules test/peers/node_modules bench/peer/node_modules
