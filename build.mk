# How the service is built, its documents, unit tests, fuzzers and benches, and how it is installed. The Makefile
# runs it once the packages are there; `make -f build.mk build/base_config_test` builds one program.
#
#   KIND=release   build: gcc, optimized
#   KIND=asan      build/asan: clang with AddressSanitizer and UBSan, and for fuzzers
#   KIND=tsan      build/tsan: clang with ThreadSanitizer
#   KIND=clang     clang's warnings alone
#   BUILD=DIR      another directory for the objects and programs
#   GENERATED=DIR  another directory for the sources that are generated, which are the same for each kind
#   LAUNCHER=ccache  a program that starts the compiler
#   V=1            prints the commands
VERSION := 0.2.0
KIND := release
GENERATED := build/generated
BUILD := build$(if $(filter-out release,$(KIND)),/$(KIND))
LAUNCHER ?=
PREFIX := /usr/local
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
$(if $(V),,.SILENT:)

# ---- flags -----------------------------------------------------------------------------------------------------------
ifeq ($(KIND),release)
compiler := gcc
CFLAGS ?= -O2 -g
CPPFLAGS ?= -D_FORTIFY_SOURCE=2
else
compiler := clang
CFLAGS := -O1 -g1 -fno-omit-frame-pointer
CPPFLAGS :=
endif
sanitizer_asan := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
sanitizer_tsan := -fsanitize=thread
sanitizer := $(sanitizer_$(KIND))
warnings := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror -Wno-overlength-strings \
    $(if $(filter clang,$(compiler)),-Wno-gnu-zero-variadic-macro-arguments)
# Without -fvisibility a name of ours goes before a library's own use of the same name.
protections := -fstack-protector-strong -fno-common -fvisibility=hidden
# Protections that not every compiler and processor has. scripts/check-hardening looks for them in the binary.
maybe := -fstack-clash-protection -ftrivial-auto-var-init=zero -fcf-protection=full -mbranch-protection=standard
libraries := jansson glib-2.0 libconfuse libcrypto libssl sqlite3 libpq libcurl zlib libbrotlienc speexdsp libevent_core libevent_pthreads libcmark-gfm

# found.mk has what this machine's compiler and pkgconf say, so that they are asked once. quick: a linker for the tests that takes
# half the time of the usual one, where it is installed; what is installed is linked by the usual one.
$(BUILD)/found.mk: build.mk
	mkdir -p $(@D)
	includes=$$(pkgconf --cflags $(libraries)) && linked=$$(pkgconf --libs $(libraries)) && srtp=$$(pkgconf --libs libsrtp2) && \
	for flag in $(maybe); do \
	    if $(compiler) -Werror $$flag -S -o /dev/null -x c /dev/null 2>/dev/null; then protects="$$protects $$flag"; fi; \
	done && \
	if $(compiler) -fuse-ld=lld -shared -o /dev/null -x c /dev/null 2>/dev/null; then quick=-fuse-ld=lld; fi && \
	printf '%s := %s\n' includes "$$includes" linked "$$linked" srtp "$$srtp" protects "$$protects" quick "$$quick" >$@
# An installation takes what was built with whatever flags.
installs := $(filter install,$(MAKECMDGOALS))
ifeq ($(installs),)
include $(BUILD)/found.mk
endif

# The definitions of libre's headers; Debian's pocketsphinx.pc names a directory that does not exist.
define_all := -D_GNU_SOURCE -DPORTERO_VERSION='"$(VERSION)"' -DHAVE_INTTYPES_H -DHAVE_STDBOOL_H -DHAVE_INET6
flags = -std=gnu17 -pthread $(define_all) $(CPPFLAGS) $(CFLAGS) $(sanitizer) $(warnings) $(protections) $(protects) \
    -Isrc -I$(GENERATED) $(includes)
# The C library's start files do not say that they hold to the shadow stack, but they do.
link_flags = $(CFLAGS) $(sanitizer) $(LDFLAGS) -pthread -Wl,-z,relro,-z,now $(if $(findstring -fcf-protection,$(protects)),-Wl$(comma)-z$(comma)shstk) -Wl,--as-needed
comma := ,

# ---- sources ---------------------------------------------------------------------------------------------------------
# A room is a directory of src, and one static library: what it uses of others (docs/architecture.md).
uses_base :=
uses_store := base
uses_event := base
uses_domain := store event
uses_net := base
uses_http := net
uses_billing := domain
uses_oauth := domain
uses_privacy := domain
uses_providers := store net
uses_jobs := billing oauth providers
uses_api := domain http jobs
uses_resources := privacy api
uses_site := resources
uses_call := domain
uses_media := call
uses_speech := call
uses_webrtc := media
uses_sip := net speech webrtc
uses_handset := sip
uses_twiml := api call
uses_mcp := resources
uses_sandbox := resources call
uses_admin := resources
uses_client := net event
uses_cli := mcp site sandbox twiml admin handset client
uses_documents := site sandbox
rooms := $(patsubst uses_%,%,$(filter uses_%,$(.VARIABLES)))

reached = $(sort $1 $(foreach room,$(uses_$1),$(call reached,$(room))))
archives = $(patsubst %,$(BUILD)/libportero_%.a,$(sort $(foreach room,$1,$(call reached,$(room)))))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$1)

tests := $(wildcard test/unit/*/*_test.c)
fuzzers := $(wildcard test/fuzz/*_fuzz.c)
benches := $(wildcard bench/*.c)
# room/name_test is the program room_name_test.
test_programs := $(foreach test,$(tests:test/unit/%.c=%),$(BUILD)/$(subst /,_,$(test)))
thread_programs := $(foreach test,$(shell sed '/^except /d' test/unit/threads.txt),$(BUILD)/$(subst /,_,$(test)))
fuzz_programs := $(fuzzers:test/fuzz/%.c=$(BUILD)/%)
bench_programs := $(benches:bench/%.c=$(BUILD)/bench_%)
programs := $(BUILD)/portero $(BUILD)/porterod $(BUILD)/operations $(BUILD)/documents $(BUILD)/clips $(test_programs) $(fuzz_programs) $(bench_programs) $(BUILD)/store_crash

.PHONY: all generated unit_tests thread_tests crash_tests fuzzers benches warnings print-flags install FORCE
all: $(BUILD)/portero $(BUILD)/porterod $(BUILD)/share/man1/portero.1
unit_tests: $(test_programs)
thread_tests: $(thread_programs)
crash_tests: $(BUILD)/store_crash $(BUILD)/libpowerloss.so
fuzzers: $(fuzz_programs)
benches: $(bench_programs)

# ---- generated sources -----------------------------------------------------------------------------------------------
sql := $(sort $(wildcard src/store/sql/*.sql)) $(sort $(wildcard src/store/sql/migrations/*.sql))
generated_headers := $(addprefix $(GENERATED)/,sql.h documents/guides_text.h mcp/instructions.h resources/examples.h domain/sign_in_html.h http/web.h)
generated_sources := $(GENERATED)/sql_table.c $(GENERATED)/http/web.c $(GENERATED)/speech/clips.c
docs_texts := $(GENERATED)/site/docs_texts.c
operation_rows := $(BUILD)/operation_rows.c
made_in_store := %/sql_table.c
made_in_http := %/web.c
made_in_speech := %/clips.c
made_in_client := %/operation_rows.c
generated: $(generated_headers) $(generated_sources)

# $(call write,COMMAND): its output becomes the target
write = mkdir -p $(@D) && echo '$(@F)' && $1 >$@
text_of = $(call write,awk -f scripts/textgen.awk -v name=$1 $2 $<)

$(GENERATED)/sql.h: $(sql) scripts/sqlgen.awk
	$(call write,awk -v out=h -f scripts/sqlgen.awk $(sql))
$(GENERATED)/sql_table.c: $(sql) scripts/sqlgen.awk
	$(call write,awk -v out=c -f scripts/sqlgen.awk $(sql))
$(GENERATED)/mcp/instructions.h: docs/agents.md scripts/textgen.awk
	$(call text_of,instructions_text,-v "section=## In short")
$(GENERATED)/resources/examples.h: src/resources/examples.json scripts/textgen.awk
	$(call text_of,examples_text)
$(GENERATED)/domain/sign_in_html.h: web/domain/sign_in.html scripts/textgen.awk
	$(call text_of,sign_in_html)
# The guides that are served; src/documents/guides.c names them.
$(GENERATED)/documents/guides_text.h: $(wildcard docs/*.md docs/behaviour/*.md) src/documents/guides.c scripts/guidegen scripts/textgen.awk
	echo guides.h && scripts/guidegen $@
# The pages, scripts and style sheets of web/, compressed: ten seconds.
$(GENERATED)/http/web.h $(GENERATED)/http/web.c &: $(wildcard web/site/* web/site/*/* web/sandbox/* web/docs/*) scripts/webgen scripts/webgen.awk
	echo web.h web.c && find web scripts/webgen scripts/webgen.awk -type f | sort | \
	    scripts/once --makes '$(GENERATED)/http/web.h $(GENERATED)/http/web.c' scripts/webgen $(GENERATED)/http
# The texts that the service says, rendered by the program that speaks it; the same for each kind, so the plain one is taken.
ifeq ($(KIND),release)
$(GENERATED)/speech/clips.c: $(BUILD)/clips
	$(call write,$<)
else
$(GENERATED)/speech/clips.c: src/clips.c src/speech/synth.c src/call/audio.c src/tbl/config.def src/tbl/prompts.def | $(generated_headers)
	+$(MAKE) -f build.mk KIND=release BUILD=build $@
endif

# The rows of the command line of residents and agents, written from the routes of the service.
$(operation_rows): $(BUILD)/operations
	$(call write,$<)

# The documents for developers, rendered by a program that has all rows.
$(docs_texts): $(BUILD)/documents
	$(call write,$<)

# ---- objects ---------------------------------------------------------------------------------------------------------
# $(call stamp,FILE,TEXT): FILE has TEXT, and is new if it had another: what was built with other words is built again.
stamp = $(if $(installs),,$(if $(call differ,$(strip $2),$(strip $(file <$1))),$(shell mkdir -p $(dir $1))$(file >$1,$(strip $2))))
differ = $(if $(and $(findstring $1,$2),$(findstring $2,$1)),,yes)
$(call stamp,$(BUILD)/flags,$(compiler) $(flags) $(link_flags))

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(generated_headers)
	mkdir -p $(@D) && echo 'cc $<'
	$(LAUNCHER) $(compiler) $(flags) $(own) -MMD -MP -c -o $@ $<

# The date of the manual pages is the date of the first entry of debian/changelog: each build of a version writes the same bytes.
date := $(shell sed -n 's/^ -- .*, \([0-9]* [A-Z][a-z]* [0-9]*\) .*/\1/p' debian/changelog | head -n 1 | LC_ALL=C date -u +%Y-%m-%d -f -)
$(if $(filter 20%,$(date)),,$(error debian/changelog has no date))
dated := -DPORTERO_DATE='"$(date)"'
$(call objects,src/cli/manual.c): own := $(dated)
$(call objects,$(tests) $(benches) test/crash/store_crash.c): own = -Itest/unit -DSOURCE_DIR='"$(CURDIR)"'
$(call objects,$(fuzzers)): own := -Wno-missing-prototypes
sphinx := $(firstword $(wildcard /usr/include/*-linux-*/sphinxbase))
$(call objects,test/unit/speech/foreign_abi_test.c): own += -isystem /usr/include/pocketsphinx -isystem $(sphinx) -isystem $(dir $(sphinx))

define library # ROOM SOURCES
$$(call stamp,$(BUILD)/libportero_$1.list,$2)
$(BUILD)/libportero_$1.a: $(call objects,$2) $(BUILD)/libportero_$1.list
	rm -f $$@ && $(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(foreach room,$(rooms),$(eval $(call library,$(room),$(wildcard src/$(room)/*.c) $(filter $(made_in_$(room)),$(generated_sources) $(operation_rows)))))

# ---- programs --------------------------------------------------------------------------------------------------------
$(programs):
	echo 'ld $@'
	$(LAUNCHER) $(compiler) $(link_flags) $(if $(filter $(test_programs) $(fuzz_programs),$@),$(quick)) $(own_link) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(own_libraries) -lrem -lre $(linked) -lm

$(BUILD)/portero: $(call objects,src/portero.c) $(call archives,client)
$(BUILD)/porterod: $(call objects,src/porterod.c $(docs_texts)) $(call archives,cli)
$(BUILD)/operations: $(call objects,src/operations.c) $(call archives,documents)
$(BUILD)/clips: $(call objects,src/clips.c src/speech/synth.c src/call/audio.c) $(BUILD)/libportero_base.a
$(BUILD)/documents: $(call objects,src/documents.c) $(call archives,cli documents)
$(BUILD)/store_crash: $(call objects,test/crash/store_crash.c) $(call archives,store)
$(bench_programs): $(BUILD)/bench_%: $(BUILD)/obj/bench/%.o $(call archives,cli)
$(fuzz_programs): $(BUILD)/%: $(BUILD)/obj/test/fuzz/%.o $(call archives,cli)
$(fuzz_programs): private own_link := -fsanitize=fuzzer
define unit_test # ROOM/NAME
$(BUILD)/$(subst /,_,$1): $(BUILD)/obj/test/unit/$1.o $(call archives,$(firstword $(subst /, ,$1)) http)
endef
$(foreach test,$(tests:test/unit/%.c=%),$(eval $(call unit_test,$(test)))) # http: the test receiver has TLS
$(test_programs): private own_libraries := -lcmocka
# scripts/portable reads the map.
$(BUILD)/portero: private own_link := -Wl,-Map=$(BUILD)/portero.map
$(BUILD)/jobs_operation_crash_test: private own_link := -Wl,--wrap=work_run
$(BUILD)/call_story_test: private own_link := -Wl,--wrap=clock_monotonic_us
# A wrong clock is repaired in jobs.
$(BUILD)/domain_guesses_test: $(call archives,jobs)
# Its noise and its sentences are speech.
$(BUILD)/media_echo_test: $(call archives,speech)
# The browser's side (test/unit/webrtc/raw_browser.h).
$(BUILD)/sip_listener_test $(BUILD)/webrtc_webrtc_test: private own_libraries := -lcmocka $(srtp)
$(BUILD)/bench_passes: private own_libraries := -lcmocka # the fixture of the unit tests
$(BUILD)/bench_webrtc: private own_libraries := $(srtp)

$(BUILD)/libpowerloss.so: test/crash/powerloss.c $(BUILD)/flags
	echo 'cc $<'
	$(compiler) -std=gnu17 -D_GNU_SOURCE -O2 -g -pthread $(warnings) -Wno-missing-prototypes -fPIC -shared -o $@ $<

# clang's warnings about programs that no sanitizer build compiles.
warnings: $(call objects,$(benches) test/crash/store_crash.c)

print-flags: # for clang-tidy, as the shell reads them
	$(info $(flags) $(dated)):

# ---- documents and installation --------------------------------------------------------------------------------------
# Manual pages and completions, from the tables of commands and configuration keys.
$(BUILD)/share/man1/portero.1: $(BUILD)/documents
	rm -rf $(BUILD)/share && echo 'manual pages and completions' && $< $(BUILD)/share

# packaging/installed.txt lists the files. Configuration and data have the same place whatever the prefix is: the program
# looks there. An operator's configuration is not overwritten.
to := $(DESTDIR)$(PREFIX)
doc := $(to)/share/doc/porterod
put := install -D -m 644
install: # of what is built
	install -D -m 755 -t $(to)/bin $(BUILD)/portero $(BUILD)/porterod
	for page in $(BUILD)/share/man*/*; do $(put) -t $(to)/share/man/$$(basename $$(dirname $$page)) $$page || exit; done
	$(put) -t $(to)/share/bash-completion/completions $(BUILD)/share/bash/*
	$(put) -t $(to)/share/zsh/site-functions $(BUILD)/share/zsh/*
	$(put) -t $(to)/share/fish/vendor_completions.d $(BUILD)/share/fish/*
	$(put) -t $(to)/lib/systemd/system packaging/portero-backup.timer packaging/portero.socket
	for unit in portero.service portero-backup.service; do \
	    sed 's|@BINDIR@|$(PREFIX)/bin|' packaging/$$unit.in | $(put) /dev/stdin $(to)/lib/systemd/system/$$unit || exit; done
	$(put) packaging/portero.tmpfiles $(to)/lib/tmpfiles.d/portero.conf
	$(put) packaging/portero.sysusers $(to)/lib/sysusers.d/portero.conf
	for file in README.md CHANGELOG.md CONTRIBUTING.md LICENSE SECURITY.md src/tbl/metrics.def clients/*/README.md docs/*.md docs/*/*.md docs/*/*.webp \
	    packaging/prometheus/alerts.yml packaging/grafana/portero.json; do $(put) $$file $(doc)/$$file || exit; done
	grep -q '^data_dir = "var"$$' portero.conf || { echo 'portero.conf has no line data_dir = "var"' >&2; exit 1; }
	sed 's|^data_dir = "var"$$|data_dir = "/var/lib/portero"|' portero.conf | $(put) /dev/stdin $(doc)/portero.conf
	if [ -e $(DESTDIR)/etc/portero/portero.conf ]; then echo 'kept $(DESTDIR)/etc/portero/portero.conf'; \
	else $(put) -t $(DESTDIR)/etc/portero $(doc)/portero.conf; fi

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
