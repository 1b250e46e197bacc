# Fuzzing; SAFETY.md says what. Only the core counts as covered, so that the fuzzer looks for new ways in it alone.
FUZZ_CC := clang
FUZZ := $(BUILD)/fuzz
FUZZ_TARGETS := frames settings stream
FUZZ_SECONDS ?= 7200
FUZZ_HARNESS := $(FUZZ)/line.o $(FUZZ)/target.o
FUZZ_CORE := $(CORE:core/%.c=$(FUZZ)/core/%.o) $(FUZZ)/board.o
FUZZ_SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_FLAGS := -std=c99 -O2 -g $(WARNINGS) -Icore -Ihost $(FUZZ_SANITIZERS)
FUZZ_COVERED := -fsanitize=fuzzer-no-link

.PHONY: fuzz fuzz-targets fuzz-tools fuzz-keep coverage

# Ends at the first broken promise, and tells how it came about.
fuzz: fuzz-targets
	@fuzz/search.sh $(FUZZ) $(FUZZ_SECONDS)

fuzz-targets: $(FUZZ_TARGETS:%=$(FUZZ)/%)

fuzz-tools:
	@command -v $(FUZZ_CC) >/dev/null || { \
		echo 'firmware: $(FUZZ_CC) is missing; install it with: apt-get install clang libclang-rt-14-dev llvm-14' >&2; exit 1; }

$(FUZZ)/core/%.o: core/%.c $(HEADERS) fuzz/fuzz.mk | fuzz-tools
	@mkdir -p $(@D)
	@$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_COVERED) -c -o $@ $<

$(FUZZ)/board.o: host/board.c $(HEADERS) fuzz/fuzz.mk | fuzz-tools
	@mkdir -p $(@D)
	@$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_COVERED) -c -o $@ $<

# What is tested of the receiver lies in its header.
$(FUZZ)/frames.o: FUZZ_FLAGS += $(FUZZ_COVERED)
$(FUZZ)/%.o: fuzz/%.c $(wildcard fuzz/*.h) $(HEADERS) fuzz/fuzz.mk | fuzz-tools
	@mkdir -p $(@D)
	@$(FUZZ_CC) $(FUZZ_FLAGS) -c -o $@ $<

$(FUZZ)/frames: $(FUZZ)/frames.o $(FUZZ_HARNESS) $(FUZZ)/core/receiver.o
$(FUZZ)/settings: $(FUZZ)/settings.o $(FUZZ)/witness.o $(FUZZ_HARNESS) $(FUZZ_CORE)
$(FUZZ)/stream: $(FUZZ)/stream.o $(FUZZ)/witness.o $(FUZZ_HARNESS) $(FUZZ_CORE)
$(FUZZ_TARGETS:%=$(FUZZ)/%):
	@echo 'firmware: fuzz/$(@F)'
	@$(FUZZ_CC) $(FUZZ_SANITIZERS) -fsanitize=fuzzer -o $@ $^

# The fewest inputs that still reach everything that those under build/ and those kept before reach.
fuzz-keep: fuzz-targets
	@for target in $(FUZZ_TARGETS); do \
		rm -rf $(FUZZ)/kept; mkdir -p $(FUZZ)/kept $(FUZZ)/grown/$$target fuzz/corpus/$$target; \
		$(FUZZ)/$$target -set_cover_merge=1 $(FUZZ)/kept fuzz/corpus/$$target $(FUZZ)/grown/$$target \
			2>&1 | tail -1; \
		rm -f fuzz/corpus/$$target/*; mv $(FUZZ)/kept/* fuzz/corpus/$$target/; \
	done

# Which lines and branches of the core the kept inputs reach; lines.txt there has every line with its count.
FUZZ_COVERAGE := $(FUZZ)/coverage
FUZZ_COVERED_BY := $(FUZZ_COVERAGE)/stream -object $(FUZZ_COVERAGE)/settings -object $(FUZZ_COVERAGE)/frames \
	-instr-profile=$(FUZZ_COVERAGE)/all.profdata
coverage: fuzz-tools
	@mkdir -p $(FUZZ_COVERAGE)
	@for target in $(FUZZ_TARGETS); do \
		case $$target in frames) with='core/receiver.c';; *) with='$(CORE) host/board.c fuzz/witness.c';; esac; \
		$(FUZZ_CC) -std=c99 -g -Icore -Ihost -fsanitize=fuzzer -fprofile-instr-generate -fcoverage-mapping \
			-o $(FUZZ_COVERAGE)/$$target $$with fuzz/$$target.c fuzz/line.c fuzz/target.c && \
		LLVM_PROFILE_FILE=$(FUZZ_COVERAGE)/$$target.profraw $(FUZZ_COVERAGE)/$$target -runs=0 \
			fuzz/corpus/$$target fuzz/regressions/$$target 2>$(FUZZ_COVERAGE)/$$target.log || exit 1; \
	done
	@llvm-profdata-14 merge -o $(FUZZ_COVERAGE)/all.profdata $(FUZZ_COVERAGE)/*.profraw
	@llvm-cov-14 report $(FUZZ_COVERED_BY) -show-branch-summary -show-region-summary=false core
	@llvm-cov-14 show $(FUZZ_COVERED_BY) core > $(FUZZ_COVERAGE)/lines.txt
