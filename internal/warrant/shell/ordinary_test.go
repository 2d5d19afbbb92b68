package shell_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// What is usual in the work of a programmer stays as harmless as it is.
func TestOrdinaryWorkIsHarmless(t *testing.T) {
	for command, want := range map[string]string{
		"cd src && go test ./...":                                   "",
		"cd build; make":                                            "",
		"cd web && npm test; cd ..; go vet ./...":                   "",
		"pushd web && npm test; popd; go vet ./...":                 "",
		"cd ~/proj && cat main.go":                                  "",
		"cd /srv/repo && rm -rf build && make":                      "file-write destructive",
		"cd .. && rm -rf build":                                     "file-write destructive",
		"cd /tmp && rm -rf x":                                       "file-write destructive",
		"cd / && cd srv/repo && rm -rf build":                       "file-write destructive",
		"D=$(mktemp -d); cd $D; rm -rf x":                           "file-write destructive",
		`cd "$(git rev-parse --show-toplevel)" && rm -rf build`:     "file-write destructive",
		`for d in */; do cd "$d"; rm -rf node_modules; cd ..; done`: "file-write destructive",
		"for f in *.go; do gofmt -l $f; done":                       "",
		"for i in {1..5}; do echo $i; done":                         "",
		`die(){ echo "$1" >&2; exit 1; }; die "no file"`:            "",
		`log(){ printf '%s\n' "$*"; }; log a b; log c`:              "",
		`build(){ cd "$1" && make; }; build a; build b`:             "",
		`check(){ if ! command -v "$1" >/dev/null; then echo "no $1"; fi; }; check go; check node`: "",
		`walk(){ for f in "$1"/*; do [ -d "$f" ] && walk "$f"; done; }; walk .`:                    "",
		`mk(){ mkdir -p "$1" && touch "$1/x"; }; mk a`:                                             "file-write",
		"alias ll='ls -la'; ll src":                                                                "",
		"PATH=$PATH:./node_modules/.bin eslint .":                                                  "",
		"PATH=./node_modules/.bin:$PATH eslint .":                                                  "",
		`PATH="$(npm bin):$PATH" eslint .`:                                                         "",
		"PATH=$(go env GOPATH)/bin:$PATH golangci-lint run":                                        "",
		`export PATH="$HOME/go/bin:$PATH"; golangci-lint run`:                                      "",
		"FOO=1 npm test":           "",
		"ENV=production npm start": "",
		"NODE_OPTIONS=--max-old-space-size=4096 npm run build":                              "",
		"NODE_OPTIONS='--import tsx' npm test":                                              "",
		"PAGER=cat git log":                                                                 "",
		"GIT_EDITOR=true git rebase --continue":                                             "file-write",
		"CC=\"gcc -O2\" ./configure":                                                        "",
		"LD_LIBRARY_PATH=./build ./t":                                                       "",
		"PYTHONPATH=. pytest -q":                                                            "",
		"HOME=/tmp/h npm test":                                                              "",
		"printf 'print(1)\\n' > t.py && python3 t.py":                                       "file-write",
		"printf '#!/bin/sh\\ngo test ./...\\n' > t.sh && chmod +x t.sh && ./t.sh":           "file-write",
		"cat > t.sh <<E\necho $HOME\nE\nbash t.sh":                                          "file-write",
		"cp scripts/run.sh /tmp/run.sh && bash /tmp/run.sh":                                 "file-write",
		"go build -o bin/x ./cmd/x && ./bin/x --help":                                       "",
		"mkdir -p src/{api,web}/{x,y}; rm -rf dist/{js,css}":                                "file-write destructive",
		"rm -rf ../../node_modules":                                                         "file-write destructive",
		"awk '{print $1}' file.txt; cat *.json":                                             "",
		"cd ~/.ssh && grep Host known_hosts":                                                "",
		"head -n 5 go.mod; cat -n main.go; grep -n x main.go":                               "",
		"npm run build -- --watch; npm run x -- rm":                                         "",
		"mise exec node@20 -- node -v; nodemon app.js; cross-env NODE_ENV=test jest":        "",
		"find . -name '*.go' | xargs gofmt -l":                                              "",
		"cd web && npm test; cd ..; cd api && go test ./...; cd ..; cd docs && make; cd ..": "",
		strings.Repeat("pushd d; make; popd; ", 6):                                          "",
		strings.Repeat("if [ -d a ]; then cd a; make; cd ..; fi; ", 3):                      "",
		`cd "$(dirname "$0")"; rm -rf build`:                                                "file-write destructive",
		`ROOT=$(cd "$(dirname "$0")" && pwd); cd "$ROOT"; rm -rf build`:                     "file-write destructive",
		`cd "$(git rev-parse --show-toplevel 2>/dev/null)" && rm -rf dist`:                  "file-write destructive",
		`cd "$(realpath ../web)" && rm -rf dist`:                                            "file-write destructive",
		`ls | while read d; do (cd "$d" && rm -rf build); done`:                             "file-write destructive",
		"sed -Ei.bak s/a/b/ main.go; sed -n 1,5p ~/.claude/settings.json; perl -Mstrict -ne print ~/.claude/settings.json": "file-write",
		"cd a; x; cd ..; cd b; y; cd ..; rm -rf bin dist":                                                                  "file-write destructive",
		"sed 's/a/b/' s.sh > s2.sh && bash s2.sh":                                                                          "file-write",
		"cat a.sh > b.sh; sh b.sh x":                                                                                       "file-write",
		"git show HEAD:script.sh > /tmp/s.sh && bash /tmp/s.sh":                                                            "file-write",
		`echo 'echo "$1"' > x.sh; sh x.sh a; ./x.sh b; . ./x.sh c`:                                                         "file-write",
		"tar xzf x.tgz; unzip -o x.zip -d build; cd ~/.claude && tar czf /tmp/x.tgz .":                                     "file-write",
		"find . -name '*.pyc' -delete":                                                                                     "file-write destructive",
		`PATH="$(dirname $(which node)):$PATH" npm test`:                                                                   "",
		`PATH="$(dirname "$(command -v node)"):$PATH" npm test`:                                                            "",
		`export PATH="$(yarn global bin):$PATH"; serve`:                                                                    "",
		"PATH=/tmp/venv/bin:$PATH python x.py":                                                                             "",
		`CDPATH= cd -- "$(dirname -- "$0")" && pwd`:                                                                        "",
		"npm exec --workspace=$W -- jest":                                                                                  "network-read file-write install",
		"x='*.go'; ls $x; echo $HOME | xargs ls":                                                                           "",
		`echo "cd $HOME/x && make" > t.sh; sh t.sh`:                                                                        "file-write",
		"x=$(ls | wc -l); echo $((x+1)); arr[0]=x; echo ${arr[0]}":                                                         "",
	} {
		if got := shell.Read(command).Effects.String(); got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

// Names that stand for names without end are given up, not followed.
func TestNamesWithoutEnd(t *testing.T) {
	var chain, wide strings.Builder
	for i := range 60 {
		n := strings.Repeat("f", i+1)
		chain.WriteString(n + "(){ " + n + "f; " + n + "f; }\n")
		wide.WriteString("f" + n + "(){ ls; }\n")
	}
	nested := "x"
	for range 40 {
		nested = "{a," + nested + "," + nested[:min(len(nested), 400)] + "}"
	}
	for name, command := range map[string]string{
		"functions that each call the next twice": chain.String() + "f",
		"more functions than are followed":        wide.String() + strings.ReplaceAll(wide.String(), "f(", "g(") + "f",
		"braces in braces":                        "echo " + strings.Repeat("{{a,b}{a,b}{a,b},{a,b}{a,b}{a,b}}", 400),
		"copies of copies":                        strings.Repeat("cp a b; cp b a; ", 100) + "./a",
		"loops that go on":                        strings.Repeat("for i in 1; do cd a; ", 60) + "ls; " + strings.Repeat("done; ", 60),
		"braces that nest":                        "echo " + nested,
	} {
		first, again := shell.Read(command).Effects, shell.Read(command).Effects
		if first != again {
			t.Errorf("%s: got %q and then %q", name, first, again)
		}
	}
}
