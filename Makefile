# git clada. `make help` lists the targets.

PREFIX  ?= /usr/local
DESTDIR ?=
GO      ?= go
VERSION ?= 0.1.0-dev

BIN    := bin/git-clada
PAGES  := $(wildcard docs/man/*.1.md)
MAN    := $(PAGES:docs/man/%.md=man/%)
LDFLAGS := -s -w -X main.toolVersion=$(VERSION)

.PHONY: all build demo test check lint script fuzz fault oracle bench docs docs-check install uninstall clean help

all: build $(MAN) ## build the program and the manual pages

build: ## build bin/git-clada
	$(GO) build -trimpath -tags urfave_cli_no_docs -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/git-clada

man/%: docs/man/%.md
	@mkdir -p man
	$(GO) tool go-md2man -in $< -out $@

demo: build ## do the main job on a throw-away clone of this repository
	./scripts/demo $(CURDIR)/$(BIN)

test: ## run the tests (a few minutes at most)
	$(GO) test ./...

check: lint docs-check ## what CI runs: lint, documentation, all tests (the fuzz targets on their corpus), some with the race detector
	$(GO) test ./...
	NESL_ORACLE=1 $(GO) test -v ./internal/parse -run TestNeslOracle
	$(GO) test -race ./internal/parse ./internal/apply ./internal/repo ./internal/runner ./internal/history

lint: ## gofmt, go vet, and that go.mod is tidy
	@test -z "$$(gofmt -l .)" || { echo 'gofmt would change:'; gofmt -l .; exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./cmd/... ./internal/repo ./internal/txn
	$(GO) mod tidy -diff

script: ## run the behaviour scripts
	$(GO) test -count=1 ./cmd/git-clada -run 'TestScript|TestErrors'

FUZZTIME ?= 60s
fuzz: ## fuzz the parser and the core, FUZZTIME each (60s)
	$(GO) test ./internal/parse -run '^$$' -fuzz '^FuzzParse$$' -fuzztime $(FUZZTIME)
	$(GO) test ./internal/parse -run '^$$' -fuzz '^FuzzConvert$$' -fuzztime $(FUZZTIME)
	$(GO) test ./internal/apply -run '^$$' -fuzz '^FuzzPlan$$' -fuzztime $(FUZZTIME)
	$(GO) test ./internal/apply -run '^$$' -fuzz '^FuzzCommand$$' -fuzztime $(FUZZTIME)

SEED ?= $(shell date +%s)
fault: ## fail every effect and kill at every file-changing system call; compare with git and coreutils at length
	$(GO) test -count=1 -v ./internal/history -run TestFaults
	KILL_STEP=1 $(GO) test -count=1 -v -timeout 60m ./cmd/git-clada -run TestKill
	@echo "seed of the random runs: $(SEED)"
	SEED=$(SEED) RANDOM_ROUNDS=1000 $(GO) test -count=1 -timeout 60m ./internal/history -run TestRandomRoundTrips
	SEED=$(SEED) RANDOM_ROUNDS=1000 $(GO) test -count=1 -timeout 60m ./internal/history -run TestCommandsRoundTrip
	SEED=$(SEED) RANDOM_ROUNDS=500 $(GO) test -count=1 -v -timeout 60m ./internal/runner -run TestSweep
	SEED=$(SEED) RANDOM_ROUNDS=20000 $(GO) test -count=1 -v ./internal/apply -run TestNeverTheWrongPlace
	SEED=$(SEED) RANDOM_ROUNDS=400 $(GO) test -count=1 -v ./internal/apply -run TestPatchesOfGit
	SEED=$(SEED) RANDOM_ROUNDS=2000 $(GO) test -count=1 -v ./internal/apply -run TestFileCommandsLikeCoreutils
	SEED=$(SEED) RANDOM_ROUNDS=1000000 $(GO) test -count=1 -v ./internal/apply -run TestWordsLikeShell
	SEED=$(SEED) RANDOM_ROUNDS=30000 $(GO) test -count=1 -v ./internal/parse -run TestQuotedBlocksAreContent
	SEED=$(SEED) RANDOM_ROUNDS=500 $(GO) test -count=1 -timeout 60m ./internal/repo -run 'TestScanConforms|TestOwnIndexConforms'

ROUNDS ?= 200000
oracle: ## compare the reading of NESL blocks with the npm package nesl on ROUNDS generated documents; needs node and npm
	NESL_ORACLE=1 SEED=$(SEED) RANDOM_ROUNDS=$(ROUNDS) $(GO) test -count=1 -v -timeout 20m ./internal/parse -run TestNeslOracle

SIZES ?= 200 20000 100000
bench: build ## time apply, undo and others as ratios to git; SIZES="200 20000 100000"
	$(GO) run ./internal/bench -program $(CURDIR)/$(BIN) $(SIZES)

docs: $(MAN) ## render the manual pages and write the generated documentation
	UPDATE_DOCS=1 $(GO) test -count=1 ./cmd/git-clada -run 'TestGeneratedDocs'

docs-check: ## check that the documentation is what the code says
	$(GO) test ./cmd/git-clada -run 'TestGeneratedDocs|TestPages|TestEveryCodeHasAnExample|TestReadme'

install: all ## install program, manual pages and completions below PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/git-clada
	install -m 644 $(MAN) $(DESTDIR)$(PREFIX)/share/man/man1/
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 644 completions/git-clada.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/git-clada
	install -m 644 completions/_git-clada $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_git-clada
	install -m 644 completions/git-clada.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/git-clada.fish

uninstall: ## remove what install put below PREFIX
	rm -f $(DESTDIR)$(PREFIX)/bin/git-clada $(addprefix $(DESTDIR)$(PREFIX)/share/man/man1/,$(notdir $(MAN)))
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/git-clada $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_git-clada
	rm -f $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/git-clada.fish

clean: ## remove what was built
	rm -rf bin man

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1	\2/p' $(MAKEFILE_LIST) | expand -t 14
