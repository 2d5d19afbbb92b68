# Every target is also an ordinary command; see the line it runs.
SHELL    := bash
FUZZTIME ?= 10m
BENCH    ?= .
MCP_MINUTES ?= 10
BINDIR   ?= $(HOME)/.local/bin
LINT     := bin/golangci-lint

.DEFAULT_GOAL := help
.PHONY: help run build install bare test contrib e2e console laptops race cross lint fuzz bench felt ratios memory hooks gateways judges harnesses mcp otel sdk snapshot torture cover parity site clean

help: ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

run: ## the monitor, from this tree (tidemark serve)
	@echo "compiling tidemark: the first time this takes minutes, after that seconds"
	@scripts/release
	@bin/tidemark serve

build: ## build bin/tidemark and bin/tidemark-hook, static
	@scripts/release

install: ## both programs into BINDIR (~/.local/bin)
	@echo "compiling tidemark: the first time this takes minutes, after that seconds"
	@scripts/release "$(BINDIR)"
	@echo "tidemark and tidemark-hook are in $(BINDIR)"

bare: ## the README's two commands on a Debian that has nothing, in a namespace of its own (as root; twenty minutes)
	@scripts/bare

test: ## all checks and tests; what CI runs
	@scripts/test

contrib: ## the programs beside it (contrib/): build them into bin/, and test them
	@scripts/contrib

e2e: ## real agents against a scripted model (installs them on first use, 4 GB; minutes)
	@scripts/e2e

console: ## the console in a real browser, all of it (installs chromium, axe-core and a provider on first use; minutes)
	@scripts/console

laptops: ## a server and two laptops that join it, each in a network of its own (Linux)
	scripts/laptops

race: ## only the tests, under the race detector
	go test -race ./...

cross: ## both programs for Windows and macOS, compiled and vetted (minutes)
	for os in windows darwin; do \
	  GOOS=$$os CGO_ENABLED=0 go vet -trimpath $$(go list ./... | grep -v /internal/test/) && \
	  GOOS=$$os CGO_ENABLED=0 go build -trimpath -o /dev/null ./cmd/tidemark && \
	  GOOS=$$os CGO_ENABLED=0 go build -trimpath -o /dev/null ./cmd/tidemark-hook || exit 1; \
	done

lint: $(LINT) ## golangci-lint (built on first use, a few minutes)
	$(LINT) run

$(LINT): tools/go.mod
	cd tools && go build -o ../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

fuzz: ## run every fuzz target for FUZZTIME (10m; hours in all); CI runs them from their kept corpora
	scripts/fuzz $(FUZZTIME)

bench: ## benchmarks, ours and the same decision in other engines
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./...
	cd bench && go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

felt: ## what people would feel: CPU of mixed work over 100 and 10,000 sessions, calls beside bombs, watchers and a dead database (five minutes)
	cd bench && go run ./felt

ratios: ## how we compare with the bare minimum, as ratios (under two minutes)
	cd bench && go run ./ratios

gateways: ## the LLM proxy beside LiteLLM and Portkey (installs them on first use)
	@scripts/gateways

memory: ## what tidemark serve takes of memory with 1,000 conversations of 1 MB (some minutes)
	cd bench && go run ./memory

hooks: ## what an agent waits for at its hook, as p50 and p99 (under a minute on a quiet machine)
	cd bench && go run ./hooks

judges: ## the providers' own clients judge the LLM proxy (installs them on first use)
	@scripts/judges

harnesses: ## what the LLM proxy knows of harnesses against their npm packages (HARNESSES_LATEST=1: the latest)
	@scripts/harnesses

mcp: ## the MCP gateway against the conformance suite, real servers and real agents, and ten minutes of many clients (installs what it needs; about 45 minutes)
	@scripts/mcp
	@scripts/mcp-auth 5
	MCP_REAL=1 go test -count=1 -v -timeout 60m -run 'TestReal|TestManySessions|TestALargeResult' ./internal/agents/wrap ./internal/mcp/pipe ./internal/mcp/relay
	@E2E_HELD=5m scripts/e2e -test.run 'TestDialogs|TestHeld' -test.parallel 10
	@TORTURE_MINUTES=$(MCP_MINUTES) scripts/torture gateway

otel: ## the telemetry plugin with a real OpenTelemetry collector (builds it on first use)
	@scripts/otel

sdk: ## the SDKs for Python and TypeScript and the Go examples with the real frameworks (installs them on first use, 2 GB; minutes)
	@scripts/sdk

snapshot: ## a release as goreleaser makes it, installed and run, published nowhere (builds goreleaser on first use, minutes)
	@scripts/snapshot

torture: ## servers, disks, databases and connections broken on purpose, part by part (half an hour; scripts/torture says more)
	@scripts/torture

cover: ## coverage per package
	go test -coverprofile=coverage.out ./...
	go tool cover -func=coverage.out | tail -n 1

parity: ## rewrite docs/parity.md from the ids the tests name
	go test ./internal/test/archtest -run '^TestParity' -update

site: ## the documentation as a site, in dist/site (needs mkdocs, from PyPI)
	@scripts/site

clean: ## remove what was built
	rm -rf bin dist coverage.*
