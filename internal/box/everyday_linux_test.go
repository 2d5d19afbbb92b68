package box_test

import (
	"strings"
	"testing"
	"time"
)

// what everyday lines find in the workspace
var project = map[string]string{
	"go.mod": "module site\n\ngo 1.21\n", "cmd/site/main.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hi\") }\n",
	"cmd/site/main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestX(*testing.T) {}\n",
	"package.json":          `{"name":"site","version":"1.0.0","scripts":{"test":"node test.js","build":"echo b"}}`, "test.js": "console.log(1)\n",
	"a.test.js": "require('node:test')('x',()=>{})\n", "m.c": "int main(){return 0;}\n", "tool": "#!/bin/sh\nexit 0\n", "src/m.py": "x=1\n",
	"J.java":    "class J{public static void main(String[] a){System.out.println(1);}}\n",
	"server.js": "require('fs').writeFileSync('server.pid',''+process.pid);require('http').createServer((q,r)=>r.end('hello')).listen(29012,'127.0.0.1')\n",
	"Makefile":  "test:\n\t@echo ok\nall: p q\np q:\n\t@sleep 0.1; echo $@\n",
}

// everyday are lines that end alike with and without the box, in the order in which they are run, in one workspace, with the programs
// that they need. Slow ones are run once, not by each kind of user. Those that compile a standard library first, and many more, are in
// scripts/everyday.txt, which scripts/box-trial runs.
var everyday = []struct{ needs, line string }{
	{"git", `git status --short`}, {"git", `git diff HEAD~1`}, {"git", `git log --oneline -5`},
	{"git", `echo l >> a.txt && git commit -qam wip && git log -1 --format=%s`}, {"git", `git add -A && git commit -qm all --allow-empty`},
	{"git", `git stash -q --include-untracked; git stash list`}, {"git", `git checkout -q -b feature && git checkout -q main`},
	{"git", `git branch -q topic && git branch -D -q topic`}, {"git", `git tag v1 && git describe --tags`}, {"git", `git merge -q --no-edit feature`},
	{"git", `git rebase -q HEAD~1`}, {"git", `git cherry-pick -n HEAD; git reset -q`}, {"git", `git blame a.txt`}, {"git", `git grep -n dipper`},
	{"git", `git bisect start && git bisect reset`}, {"git", `git init -q sub && git -C sub commit -q --allow-empty -m s && git -C sub status`},
	{"git", `git worktree add -q wt HEAD && git -C wt log -1 && git worktree remove wt`}, {"git", `git clone -q . copy && git -C copy log -1`},
	{"git", `git switch -q -c tracked`}, {"git", `git gc -q && git fsck`}, {"git", `git rev-parse --show-toplevel >/dev/null`}, {"git", `git push nowhere`},
	{"go", `go mod tidy`},
	{"go", `gofmt -l .`}, {"go", `go env GOCACHE`}, {"go", `go get example.invalid/x`},
	{"npm node", `npm test`}, {"npm node", `npm run build`}, {"npm node", `npm ls`}, {"node", `node --test a.test.js`},
	{"node", `node -e "require('fs').writeFileSync('out.json',JSON.stringify({a:1}))" && cat out.json`}, {"node", `node nothing.js`},
	{"python3", `python3 -m py_compile src/m.py`}, {"python3", `python3 -c "import multiprocessing as m; print(m.Pool(2).map(abs,[1,-2]))"`},
	{"python3", `python3 -c "from multiprocessing import Manager; d=Manager().dict(); d['a']=1; print(d)"`},
	{"python3", `python3 -m http.server 29011 --bind 127.0.0.1 >/dev/null 2>&1 & until (exec 3<>/dev/tcp/127.0.0.1/29011) 2>/dev/null; do sleep 0.05; done; kill %1`},
	{"python3", `python3 -c 'import sys; sys.exit(3)'`}, {"python3", `python3 -c "import tempfile; print(tempfile.mkdtemp())"`},
	{"sqlite3", `sqlite3 db.sqlite 'create table if not exists t(a); insert into t values(1); select count(*) from t'`},
	{"make", `make test`}, {"make", `make -j2 all`}, {"make", `make nothing`}, {"gcc", `gcc -O1 m.c -o m && ./m`}, {"slow javac java", `javac J.java && java J`},
	{"rg", `rg -n dipper .`}, {"", `grep -rn plan notes | head -3`}, {"", `find . -name '*.md' | xargs wc -l | tail -1`}, {"", `find . -type f | wc -l`},
	{"sed git", `sed -i 's/a/b/' a.txt && git diff --stat`}, {"tar", `tar czf $TMPDIR/site.tgz notes && tar tzf $TMPDIR/site.tgz`}, {"tar", `mkdir x && tar xzf $TMPDIR/site.tgz -C x`},
	{"zip unzip", `zip -q $TMPDIR/s.zip a.txt && unzip -l $TMPDIR/s.zip | tail -1`}, {"", `cp -r notes notes2 && mv notes2 old && rm -rf old`}, {"", `cp -a notes notes3 && ln -s notes3 n && rm -r n notes3`},
	{"", `mktemp -d && echo t > $TMPDIR/t1 && cat $TMPDIR/t1`}, {"", `chmod +x tool && ./tool`}, {"", `mkfifo f && (echo x > f &) && cat f && rm f`},
	{"node", `nohup node server.js >$TMPDIR/server.log 2>&1 & until (exec 3<>/dev/tcp/127.0.0.1/29012) 2>/dev/null; do sleep 0.05; done; echo started`}, {"node curl", `curl -sf http://localhost:29012/ || curl -sf http://127.0.0.1:29012/`},
	{"node", `kill $(cat server.pid) && echo stopped`}, {"ps", `ps aux | head -3`}, {"", `kill -0 $$ && echo alive`}, {"", `cat ../other/f.txt`},
	{"", `cat ~/.bashrc`}, {"strace", `strace -f -o $TMPDIR/st true`}, {"gdb", `gdb -batch -ex run -ex quit /bin/true`}, {"script", `script -qc 'tty' /dev/null`},
	{"", `timeout 5 bash -i -c 'echo interactive' 2>/dev/null`}, {"", `(sleep 3 >/dev/null 2>&1 & echo $! > bg.pid); cat bg.pid`}, {"tmux", `tmux new-session -d 'sleep 30' && tmux ls && tmux kill-server`},
	{"", `false`}, {"", `exit 42`}, {"", `kill -TERM $$`}, {"", `kill -KILL $$`}, {"", `nothing-like-this`}, {"", `/etc/passwd`}, {"", `cd nowhere`},
	{"", `echo hi > /dev/stderr; echo hi > /dev/stdout; echo hi >/dev/null`}, {"", `head -c 10 /dev/urandom | wc -c; nproc; uname -a; hostname; date; id -u; df . >/dev/null; free >/dev/null`},
	{"perl", `perl -e 'print "x\n"; exit 5'`}, {"openssl", `openssl version && openssl rand -hex 4`}, {"", `ulimit -a >/dev/null; umask; trap 'echo bye' EXIT`},
	{"", `cat <<< here; diff a.txt a.txt; cmp a.txt a.txt; test -w a.txt; test -w /etc/passwd -a $UID != 0`}, {"", `helper`}, {"", `echo $FEATURE_X`},
	{"", `mkdir -p d/e && touch d/e/f && mv d d2 && rmdir d2 2>/dev/null; rm -rf d2`}, {"flock", `flock $TMPDIR/l echo locked`}, {"xargs", `seq 50 | xargs -P4 -n1 echo | wc -l`},
	{"slow python3", `python3 -m venv --without-pip .venv && .venv/bin/python -c 'print(1)'`}, {"node", `node -e "new (require('worker_threads').Worker)('process.exit(0)',{eval:true})"`},
	{"curl", `curl -sm 3 http://127.0.0.1:9/`}, {"", `mkdir .github/x && echo doc > .github/x/readme && rm -r .github/x`}, {"", `echo y > ~/.cache/tool/new && cat ~/.cache/tool/new`},
}

// The same exit codes as without the box.
func TestEverydayLinesEndAlike(t *testing.T) {
	t.Parallel()
	plain, boxed := newWorld(t), newWorld(t)
	for _, w := range []*world{plain, boxed} {
		for name, text := range project {
			w.put(w.ws+"/"+name, text)
		}
		if has("git") {
			w.must("git add -A && git commit -qm more")
		}
	}
	outside := map[string]int{}
	run := func(w *world, do func(string) (int, string), each func(line string, code int, out string)) {
		for _, e := range everyday {
			needs, slow := strings.CutPrefix(e.needs, "slow ")
			if has(strings.Fields(needs)...) && (!slow || !testing.Short() && !again()) {
				began := time.Now()
				code, out := do(e.line)
				if took := time.Since(began); took > 2*time.Second {
					t.Logf("%s took %v", e.line, took.Round(time.Second/10))
				}
				each(e.line, code, out)
			}
		}
	}
	run(plain, plain.plain, func(line string, code int, _ string) { outside[line] = code })
	b := boxed.open(nil)
	same := 0
	run(boxed, func(line string) (int, string) { return boxed.in(b, line) }, func(line string, code int, out string) {
		want := outside[line]
		if want < 0 { // a shell that a signal ended
			want = code
		}
		if code != want {
			t.Errorf("%s: ended with %d in the box, %d outside\n%s", line, code, want, out)
			return
		}
		same++
	})
	r := boxed.shut(b)
	t.Logf("%d of %d lines ended alike (the others' programs are not here, or they are told above)", same, len(everyday))
	if len(r.Aside) > 0 {
		t.Errorf("everyday work was put aside: %+v", r.Aside)
	}
}

// What needs more than a box gives fails, and says so: it does not seem to work.
func TestWhatTheBoxHoldsFailsLoudly(t *testing.T) {
	if !has("git") {
		t.Skip("needs git")
	}
	w := newWorld(t)
	b := w.open(nil)
	for _, line := range []string{
		`git worktree add -q ../wt HEAD`, `git config user.email x@acme.example`, `git remote add up git://host.example/x`, `echo x >> ~/.bashrc`,
		`mkdir ../beside`, `mkdir ~/new`, `touch ~/.new`, `git config --global user.name x`, `cat ~/.ssh/id_ed25519`, `git fetch git://192.0.2.1/x`,
		`exec 3<>/dev/tcp/192.0.2.1/80`,
	} {
		if code, out := w.in(b, line); code == 0 {
			t.Errorf("%s: seemed to work:\n%s", line, out)
		}
	}
	if r := w.shut(b); r.Unrouted == 0 {
		t.Errorf("nobody counted what had no way out: %+v", r)
	}
}
