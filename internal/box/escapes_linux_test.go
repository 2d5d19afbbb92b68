package box_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
)

// escape is a line by somebody who has read this package. It goes through if a file that runs elsewhere says evil afterwards, if the
// line says that it went through, if a secret is read, or if something outside changes.
type escape struct {
	name  string
	ready string   // what stood in the workspace before, made outside the box
	line  string   // what is tried; "through" in what it says means that it was possible
	left  []string // files of the workspace that run elsewhere or later: none of them may hold the word evil
	needs string
	still bool // the box must still run commands afterwards
}

// evilRepo makes a folder that git takes for a repository and that has it run a program.
const evilRepo = `evilrepo() { mkdir -p "$1/objects" "$1/refs" && echo 'ref: refs/heads/main' > "$1/HEAD" && printf '[core]\n\tbare = false\n\tfsmonitor = evil\n' > "$1/config"; }; `

// rounds has a line wait until a job of it has gone round so often.
const rounds = `round() { echo r >> $TMPDIR/rounds; }; rounds() { until [ "$(wc -l < $TMPDIR/rounds)" -ge $1 ]; do sleep 0.01; done; } 2>/dev/null; `

var escapes = []escape{
	// the look for what came is led past it
	{name: "a folder that looks like a repository hides what is in it", line: `mkdir -p objects refs && touch HEAD && echo evil > .mcp.json`, left: []string{".mcp.json"}},
	{name: "a folder below does", line: `mkdir -p d/objects d/refs && touch d/HEAD && echo evil > d/.envrc`, left: []string{"d/.envrc"}},
	{name: "it is in a folder that can be gone through and not listed", line: `mkdir d && echo evil > d/.envrc && chmod 111 d`, left: []string{"d/.envrc"}},
	{name: "it is in a folder that can be listed by nobody", line: `mkdir d && echo evil > d/.envrc && chmod 000 d`, left: []string{"d/.envrc"}},
	{name: "it is in a folder that cannot be written", line: `mkdir d && echo evil > d/.envrc && chmod 555 d`, left: []string{"d/.envrc"}},
	{name: "the workspace itself cannot be written", line: `echo evil > .mcp.json; chmod 555 .; echo evil >> .mcp.json`, left: []string{".mcp.json"}},
	{name: "the folder that came cannot be written", line: `mkdir .claude && echo evil > .claude/settings.json && chmod 555 .claude`, left: []string{".claude/settings.json"}},
	{name: "a job makes it again and again", line: rounds + `(while :; do echo evil > .mcp.json; round; done) >/dev/null 2>&1 & rounds 30`, left: []string{".mcp.json"}},
	{name: "a job renames the folder above it", line: rounds + `mkdir a b; (while :; do echo evil > a/.envrc; mv a c; mv b a; mv c b; round; done) >/dev/null 2>&1 & rounds 15`, left: []string{"a/.envrc", "b/.envrc", "c/.envrc"}},
	{name: "a folder above a guarded one is swapped for a link", line: `mkdir x && echo evil > x/ci.yml; mv .github g && ln -s x .github; mv .github/workflows .github/w && ln -s ../x .github/workflows`,
		left: []string{".github/ci.yml", ".github/workflows/ci.yml"}},
	{name: "a copy of another folder's file comes to the root", ready: `mkdir -p fixtures && echo evil > fixtures/AGENTS.md`, line: `cp fixtures/AGENTS.md AGENTS.md`, left: []string{"AGENTS.md"}},

	// repositories
	{name: "a repository deep in the folder of worktrees", line: evilRepo + `evilrepo .git/worktrees/a/evil; mkdir w && echo "gitdir: $PWD/.git/worktrees/a/evil" > w/.git`, left: []string{"w/.git"}, needs: "git"},
	{name: "a repository deep in the folder of modules", line: evilRepo + `mkdir -p .git/modules/a && touch .git/modules/a/HEAD; evilrepo .git/modules/a/evil; mkdir w && echo "gitdir: $PWD/.git/modules/a/evil" > w/.git`,
		left: []string{"w/.git"}, needs: "git"},
	{name: "a repository in the repository's own folder", line: evilRepo + `evilrepo .git/logs/evil; mkdir w && echo "gitdir: ../.git/logs/evil" > w/.git`, left: []string{"w/.git"}, needs: "git"},
	{name: "a hook in the folder that the settings name", ready: `git config core.hooksPath scripts/hooks && mkdir -p scripts/hooks && printf '#!/bin/sh\n' > scripts/hooks/pre-commit`,
		line: `echo evil >> scripts/hooks/pre-commit; echo evil > scripts/hooks/post-commit`, left: []string{"scripts/hooks/pre-commit", "scripts/hooks/post-commit"}, needs: "git"},
	{name: "a hook in a folder that the settings name and that is not there", ready: `git config core.hooksPath tools/hooks`, line: `mkdir -p tools/hooks && echo evil > tools/hooks/pre-commit`,
		left: []string{"tools/hooks/pre-commit"}, needs: "git"},
	{name: "settings that the settings include", ready: `git config include.path ../shared.gitconfig && echo > shared.gitconfig`, line: `printf '[core]\n\tfsmonitor = evil\n' > shared.gitconfig`,
		left: []string{"shared.gitconfig"}, needs: "git"},
	{name: "a program that the settings run", ready: `mkdir tools && printf '#!/bin/sh\ncat\n' > tools/clean.sh && git config filter.x.clean 'sh tools/clean.sh %f'`, line: `echo evil >> tools/clean.sh`,
		left: []string{"tools/clean.sh"}, needs: "git"},
	{name: "hooks that are a link", ready: `rm -rf .git/hooks && mkdir myhooks && ln -s ../myhooks .git/hooks`, line: `echo evil > myhooks/pre-commit`, left: []string{"myhooks/pre-commit"}, needs: "git"},
	{name: "rules of an agent that are a link", ready: `mkdir -p docs && echo r > docs/rules.md && ln -s docs/rules.md AGENTS.md`, line: `echo evil >> docs/rules.md`, left: []string{"docs/rules.md"}},
	{name: "a repository whose files are the home's", line: `git init -q sub && git -C sub config core.worktree "$HOME/evil/.."`, left: []string{"sub/.git/config"}, needs: "git"},
	{name: "the old form of a remote", line: `mkdir -p .git/remotes && echo 'URL: https://evil.example/x' > .git/remotes/origin; mkdir -p .git/branches; echo https://evil.example > .git/branches/up`,
		left: []string{".git/remotes/origin", ".git/branches/up"}, needs: "git"},
	{name: "a rebase that is half done", line: `mkdir -p .git/rebase-merge && echo 'exec evil' > .git/rebase-merge/git-rebase-todo && echo refs/heads/main > .git/rebase-merge/head-name`,
		left: []string{".git/rebase-merge/git-rebase-todo"}, needs: "git"},
	{name: "settings of another system of versions", line: `mkdir .hg && printf '[hooks]\nupdate = evil\n' > .hg/hgrc; mkdir -p s/.jj/repo && echo evil > s/.jj/repo/config.toml`, left: []string{".hg/hgrc", "s/.jj/repo/config.toml"}},

	// what is read by programs that no list knows
	{name: "settings of an agent that nobody has heard of", line: `mkdir .newagent && echo evil > .newagent/hooks.json; echo evil > .newrules`, left: []string{".newagent/hooks.json", ".newrules"}},
	{name: "settings of an agent in a folder", line: `mkdir -p pkg/a/.claude pkg/a/.vscode && echo evil | tee pkg/a/.claude/settings.json pkg/a/.vscode/tasks.json pkg/a/.mcp.json >/dev/null`,
		left: []string{"pkg/a/.claude/settings.json", "pkg/a/.vscode/tasks.json", "pkg/a/.mcp.json"}},
	{name: "where large files go", line: `printf '[lfs]\n\turl = https://evil.example\n' > .lfsconfig`, left: []string{".lfsconfig"}},
	{name: "which program a name is", line: `echo 'node path:./evil' > .tool-versions; echo evil > mise.toml`, left: []string{".tool-versions", "mise.toml"}},
	{name: "names that differ in their case only", line: `echo evil > .MCP.JSON; mkdir .Claude && echo evil > .Claude/settings.json`, left: []string{".MCP.JSON", ".Claude/settings.json"}},

	// whoever looks is held up or used up
	{name: "settings that never end", line: `git init -q sub && rm sub/.git/config && mkfifo sub/.git/config`, needs: "git mkfifo"},
	{name: "settings as large as the disk", line: `git init -q sub && truncate -s 200G sub/.git/config; mkdir -p w; truncate -s 200G w/AGENTS.md`, needs: "git truncate"},
	{name: "every signal to the first process", line: `for s in $(seq 1 64); do kill -$s 1 2>/dev/null; done; true`, still: true},
	{name: "processes without end", line: `ulimit -u unlimited 2>/dev/null; n=$(ulimit -u); [ "$n" = unlimited ] && echo through; [ "$n" -gt 20000 ] && echo through; true`},
	{name: "memory without end", line: `for d in /dev/shm /run/lock $XDG_RUNTIME_DIR; do s=$(df -k --output=size $d | tail -1); m=$(awk '/MemTotal/{print $2}' /proc/meminfo); [ $((s*3)) -gt $m ] && echo through $d; done; true`, needs: "df awk"},
	{name: "who is ended first when there is no memory", line: `[ "$(cat /proc/self/oom_score_adj)" -ge 200 ] || echo through`},
	{name: "a crash has a program run outside", line: `grep -qE 'Max core file size +1 +1 ' /proc/self/limits || echo through`},

	// rights
	{name: "a program with its owner's rights", line: `cp /bin/true t && chmod u+s t && [ -u t ] && echo through; install -m 4755 /bin/true t2 2>/dev/null; [ -u t2 ] && echo through; true`},
	{name: "the same by other calls", line: `python3 -c "
import os,ctypes
l=ctypes.CDLL(None)
open('a1','w').close()
for f in (lambda: os.chmod('a1',0o4755), lambda: os.fchmod(os.open('a1',os.O_RDONLY),0o4755), lambda: os.close(os.open('a2',os.O_CREAT|os.O_WRONLY,0o4755)), lambda: l.syscall(452,-100,b'a1',0o4755,0)):
  try: f()
  except OSError: pass
print('through' if any(os.path.exists(p) and os.stat(p).st_mode&0o4000 for p in ('a1','a2')) else '')"`, needs: "python3"},
	{name: "calls that give hold of memory, keys and other processes", line: `python3 -c "
import ctypes,os
l=ctypes.CDLL(None,use_errno=True)
b=ctypes.create_string_buffer(512)
for n,a in ((425,(8,b)),(323,(0,)),(250,(0,-3,1)),(248,(b'user',b'x',b'y',1,-3)),(321,(0,b,64)),(298,(b,0,-1,-1,0)),(272,(0x10000000,)),(435,(b,64)),(308,(3,0)),(304,(-100,b,0))):
  r=l.syscall(n,*a)
  if r>=0 and n not in (435,): print('through',n)
p=l.syscall(434,1,0)
if p>=0 and l.syscall(438,p,0,0)>=0: print('through getfd')
if l.ptrace(16,1,0,0)>=0 or l.ptrace(0x4206,1,0,0)>=0: print('through ptrace')
iov=(ctypes.c_void_p*2)(ctypes.addressof(b),8)
if l.process_vm_readv(1,iov,1,iov,1,0)>=0: print('through vm')
"`, needs: "python3"},
	{name: "a program that is in memory only", line: `python3 -c "
import os
f=os.memfd_create('x'); os.write(f,open('/bin/cat','rb').read())
os.execve(f,['cat',os.path.expanduser('~/.ssh/id_ed25519')],os.environ)"`, needs: "python3"},
	{name: "sockets of other kinds", line: `python3 -c "
import socket
for f,t,p in ((40,1,0),(17,3,0),(38,5,0),(16,3,9),(16,3,15),(16,3,12),(2,3,1),(31,3,1),(29,3,1),(44,2,0),(30,1,0)):
  try: socket.socket(f,t,p); print('through',f,t,p)
  except OSError: pass"`, needs: "python3"},
	{name: "typing into the terminal", line: `python3 -c "
import fcntl,os,pty
m,s=pty.openpty()
for r in (0x5412,0x541C,0x100005412):
  try: fcntl.ioctl(s,r&0xffffffff,b'x'); print('through')
  except OSError: pass"`, needs: "python3"},
	{name: "keys of programs that are shown", line: `cat ~/.local/share/uv/credentials/c.toml ~/.config/pnpm/rc ~/.config/configstore/snyk.json ~/snap/firefox/common/.mozilla/logins.json ~/.cache/mail/inbox`},
	{name: "what was typed elsewhere", line: `cat ~/.local/state/python_history`},
	{name: "a socket in a folder of dependencies", ready: ``, line: `for s in node_modules/.s/s .git/s; do perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); print connect(S,sockaddr_un($ARGV[0])) ? "through\n" : ""' $s; done`, needs: "perl"},
}

// secrets of programs that lie where programs are shown
var kept = map[string]string{
	".local/share/uv/credentials/c.toml": "SECRET-uv\n", ".config/pnpm/rc": "SECRET-pnpm\n", ".config/configstore/snyk.json": "SECRET-snyk\n",
	"snap/firefox/common/.mozilla/logins.json": "SECRET-browser\n", ".cache/mail/inbox": "SECRET-mail\n", ".local/state/python_history": "SECRET-typed\n",
}

// listenIn has somebody listen at sockets in the workspace.
func listenIn(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
}

// BOX-01
func TestNoEscapeGoesThrough(t *testing.T) {
	for _, e := range escapes {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			skipThrough(t, e.name)
			if e.needs != "" && !has(strings.Fields(e.needs)...) {
				t.Skipf("needs %s", e.needs)
			}
			w := newWorld(t)
			for name, text := range kept {
				w.put(filepath.Join(w.home, name), text)
			}
			if e.ready != "" {
				w.must(e.ready)
			}
			listenIn(t, filepath.Join(w.ws, "node_modules/.s/s"), filepath.Join(w.ws, ".git/s"))
			b := w.open(nil)
			_, out := w.in(b, e.line)
			if e.still {
				if code, out := w.in(b, `exit 7`); code != 7 {
					t.Errorf("the box is gone: %d %s", code, out)
				}
			}
			r, err := b.Close()
			if err != nil {
				t.Error(err)
			}
			e.judge(t, w, out, r)
		})
	}
}

// judge looks at what an escape left.
func (e *escape) judge(t *testing.T, w *world, out string, r *box.Report) {
	t.Helper()
	if strings.Contains(out, "through") || strings.Contains(out, "SECRET") {
		t.Errorf("it went through:\n%s", out)
	}
	if len(r.Aside) > 200 {
		t.Errorf("%d files were put aside", len(r.Aside))
	}
	opened(w.ws)
	for _, name := range e.left {
		if text, err := os.ReadFile(filepath.Join(w.ws, name)); err == nil && strings.Contains(string(text), "evil") {
			t.Errorf("%s is left: %q\n%s\n%+v", name, text, out, r.Aside)
		}
	}
}

// opened lets a test read what an escape closed.
func opened(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}
