package warrant

import (
	"path"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// plainPrograms look, compute, build and test in the workspace; with the words that may
// follow where not all may. What is not here asks once content of others has come in.
var plainPrograms = map[string]string{
	"ls": "", "cat": "", "head": "", "tail": "", "less": "", "more": "", "grep": "", "egrep": "", "fgrep": "", "rg": "", "ag": "", "find": "", "fd": "", "wc": "",
	"sort": "", "uniq": "", "cut": "", "tr": "", "awk": "", "gawk": "", "sed": "", "diff": "", "cmp": "", "file": "", "stat": "", "tree": "", "pwd": "", "cd": "",
	"echo": "", "printf": "", "test": "", "[": "", "[[": "", "true": "", "false": "", ":": "", "date": "", "which": "", "type": "", "command": "", "du": "", "df": "", "basename": "",
	"dirname": "", "realpath": "", "readlink": "", "xargs": "", "tee": "", "mkdir": "", "touch": "", "cp": "", "mv": "", "rm": "", "rmdir": "", "chmod": "", "sleep": "",
	"ps": "", "jq": "", "yq": "", "nl": "", "od": "", "xxd": "", "hexdump": "", "strings": "", "column": "", "paste": "", "comm": "", "rev": "", "fold": "", "seq": "",
	"expr": "", "bc": "", "env": "", "export": "", "set": "", "unset": "", "exit": "", "wait": "", "time": "", "timeout": "", "nice": "", "whoami": "", "hostname": "", "uname": "",
	"id": "", "nproc": "", "free": "", "uptime": "", "man": "", "help": "", "clear": "", "md5sum": "", "sha256sum": "", "shasum": "", "cksum": "", "tar": "", "unzip": "", "zip": "",
	"gzip": "", "gunzip": "", "zcat": "", "bash": "", "sh": "", "zsh": "", "source": "", ".": "", "read": "", "local": "", "return": "", "shift": "", "pushd": "", "popd": "",
	"python": "", "python3": "", "pytest": "", "tox": "", "nox": "", "mypy": "", "ruff": "", "black": "", "flake8": "", "isort": "", "pylint": "", "coverage": "",
	"node": "", "tsc": "", "eslint": "", "prettier": "", "jest": "", "vitest": "", "mocha": "", "biome": "", "tsx": "", "ts-node": "", "vite": "build", "webpack": "", "esbuild": "", "rollup": "",
	"java": "", "javac": "", "mvn": "", "mvnw": "", "gradle": "", "gradlew": "", "kotlinc": "", "gcc": "", "g++": "", "cc": "", "clang": "", "clang++": "", "cmake": "", "ctest": "", "ninja": "",
	"rustc": "", "rustfmt": "", "gofmt": "", "goimports": "", "golangci-lint": "", "staticcheck": "", "ruby": "", "rspec": "", "rake": "test spec", "php": "", "phpunit": "", "dotnet": "build test run restore", "swift": "build test run",
	"git":  "status log diff show branch checkout switch add commit stash fetch blame rev-parse ls-files ls-tree grep merge rebase tag describe remote restore reset rm mv cherry-pick worktree shortlog reflog cat-file apply init bisect config pull am format-patch",
	"make": "test tests check build all lint fmt format clean compile install", "just": "test build lint check",
	"npm": "test t run ci install i ls list start view outdated exec version", "pnpm": "test run install i build lint", "yarn": "test run install build lint", "bun": "test run install build", "npx": "jest vitest eslint prettier tsc mocha tsx",
	"go": "build test vet fmt run mod list env doc generate version tool", "cargo": "build test check fmt clippy run doc tree bench", "pip": "install list show freeze", "pip3": "install list show freeze", "uv": "run sync pip lock", "poetry": "run install lock show",
	"gh": "pr issue run repo", "docker": "ps images logs", "kubectl": "get describe logs", "open": "-",
	"if": "", "for": "", "while": "", "search_dir": "", "search_file": "", "find_file": "", "goto": "", "create": "", "edit": "", "submit": "", "scroll_down": "", "scroll_up": "", "apt": "list search show", "apt-cache": "", "ip": "addr a link route", "ifconfig": "", "systemctl": "status list-units", "brew": "list info", "apt-get": "update",
}

// plain reports whether a program of a command line is one of those, used as such.
func plain(r *shell.Run) bool {
	words, ok := plainPrograms[strings.TrimPrefix(r.Name, "./")]
	if !ok {
		return strings.HasSuffix(r.Name, ".sh") || strings.HasSuffix(r.Name, ".py") || strings.HasPrefix(r.Path, "./")
	}
	sub := ""
	for _, a := range r.Args {
		if !strings.HasPrefix(a.Text, "-") && !strings.Contains(a.Text, "=") {
			sub = a.Text
			break
		}
	}
	if words != "" && sub != "" && !slices.Contains(strings.Fields(words), sub) {
		return false
	}
	if r.Name == "git" {
		for _, a := range r.Args {
			switch {
			case sub == "reset" && a.Text == "--hard", sub == "config" && len(r.Args) > 2, sub == "remote" && (a.Text == "add" || strings.HasPrefix(a.Text, "set")), strings.HasPrefix(a.Text, "--force"), strings.HasPrefix(a.Text, "-c"):
				return false
			}
		}
	}
	return true
}

// contentEndings are files that are looked at, edited and compiled; nothing runs them by
// being there.
var contentEndings = set(`.py .go .js .jsx .ts .tsx .mjs .cjs .java .kt .kts .scala .c .h .cc .cpp .hpp .cs .rs .rb .php .swift .m .mm .pl .lua .r .jl .ex .exs .erl .hs .clj .dart .vue .svelte
.html .htm .css .scss .sass .less .xml .svg .md .mdx .rst .txt .tex .adoc .csv .tsv .json .jsonl .sql .graphql .proto .ipynb .log .diff .patch .snap .golden .po .properties .sh .docx .pdf .xlsx .png .jpg`)

// running are files of those endings that something runs or obeys all the same.
var running = set(`package.json setup.py conftest.py sitecustomize.py usercustomize.py manage.py build.gradle.kts settings.gradle.kts build.rs gulpfile.js gruntfile.js webpack.config.js vite.config.js vite.config.ts next.config.js jest.config.js
babel.config.js rollup.config.js tsconfig.json composer.json agents.md claude.md gemini.md memory.md soul.md tools.md identity.md user.md heartbeat.md bootstrap.md skill.md copilot-instructions.md requirements.txt pom.xml package-lock.json authorized_keys`)

// steers reports whether a file decides what a machine or an agent does next: everything
// that is not plain content in plain folders.
func steers(file string) bool {
	f := strings.ToLower(strings.ReplaceAll(file, "\\", "/"))
	base := path.Base(f)
	if running[base] || !contentEndings[path.Ext(base)] {
		return true
	}
	for seg := range strings.SplitSeq(f, "/") {
		switch {
		case strings.HasPrefix(seg, ".") && seg != "." && seg != ".." && seg != "":
			return true
		case seg == "node_modules" || seg == "site-packages" || seg == "vendor" || seg == "hooks" || seg == "autostart" || seg == "cron.d" || seg == "bin" && strings.HasPrefix(f, "/"):
			return true
		}
	}
	return strings.HasPrefix(f, "/etc/") || strings.HasPrefix(f, "/usr/") || strings.HasPrefix(f, "/lib/")
}
