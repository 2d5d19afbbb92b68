package box_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// attack is a line that does harm outside the box and none in it.
type attack struct {
	name  string
	line  string
	needs string // programs
	quiet bool   // it does no harm without the box either, or cannot be tried on an open machine: only the box is tried
}

// In lines, @OUT is the port at which somebody outside listens, @SOCK a socket at which somebody does, @PID a process outside.
var attacks = []attack{
	{name: "reads a key", line: `cat ~/.ssh/id_ed25519`},
	{name: "reads keys of a cloud", line: `cat ~/.aws/credentials`},
	{name: "reads a folder that nobody has heard of", line: `cat ~/.acme/token`},
	{name: "reads what was typed", line: `cat ~/.bash_history`},
	{name: "reads a login", line: `cat ~/.config/gh/hosts.yml ~/.docker/config.json ~/.netrc`},
	{name: "reads a key beside a cache", line: `cat ~/.cargo/credentials.toml`},
	{name: "reads the monitor's tokens", line: `cat ~/.local/share/tidemark/tokens.json`},
	{name: "finds keys by their text", line: `grep -rs SECRET ~ || true`},
	{name: "links to a key", line: `ln ~/.ssh/id_ed25519 k && cat k`},
	{name: "reads a key through a link", line: `ln -s ~/.ssh/id_ed25519 k; cat k`},
	{name: "copies a key into the workspace", line: `cp -r ~/.ssh keys; cat keys/*`},
	{name: "prints its variables", line: `env`},
	{name: "prints one variable", line: `echo $GITHUB_TOKEN $ACME_DSN`},
	{name: "reads variables of all processes", line: `cat /proc/*/environ | tr '\0' '\n'`},
	{name: "reads variables of the first process", line: `cat /proc/1/environ /proc/1/task/*/environ`, quiet: true},
	{name: "reads memory of the first process", line: `head -c 1 /proc/1/mem; ls -l /proc/1/root /proc/1/cwd /proc/1/fd; cat /proc/1/maps`, quiet: true},
	{name: "traces the first process", line: `for t in /proc/1/task/*; do timeout 2 strace -p ${t##*/} -o t.txt; done`, needs: "strace", quiet: true},

	{name: "appends to a start-up file", line: `echo evil >> ~/.bashrc`},
	{name: "replaces a start-up file", line: `echo evil > p && mv p ~/.profile`},
	{name: "writes keys that are let in", line: `echo evil > ~/.ssh/authorized_keys`},
	{name: "writes a program that is found first", line: `printf '#!/bin/sh\nevil\n' > ~/.local/bin/git; chmod +x ~/.local/bin/git`},
	{name: "changes a program", line: `echo evil >> ~/.local/bin/helper`},
	{name: "poisons a cache", line: `echo evil > ~/.cache/tool/index`},
	{name: "poisons settings of a tool", line: `echo evil >> ~/.cargo/config.toml`},
	{name: "starts with the desktop", line: `mkdir -p ~/.config/autostart && echo evil > ~/.config/autostart/x.desktop`},
	{name: "changes another project", line: `echo evil >> ../other/f.txt`},
	{name: "makes a project beside", line: `mkdir ../evil && echo evil > ../evil/x`},
	{name: "deletes documents", line: `rm -rf ~/Documents`},
	{name: "deletes the home", line: `rm -rf ~/* ~/.[a-z]* 2>/dev/null; true`},
	{name: "opens a key to everybody", line: `chmod 666 ~/.ssh/id_ed25519`},
	{name: "changes the monitor's data", line: `echo evil > ~/.local/share/tidemark/tokens.json`},

	{name: "writes a hook", line: `echo evil > .git/hooks/pre-commit`, needs: "git"},
	{name: "sets a monitor of files", line: `git config core.fsmonitor 'touch evil'`, needs: "git"},
	{name: "writes git's settings", line: `printf '[core]\n\tpager = evil\n' >> .git/config`, needs: "git"},
	{name: "moves the repository away", line: `mv .git g2 && mkdir .git && printf '[core]\n\tpager = evil\n' > .git/config`, needs: "git"},
	{name: "copies the repository and puts it in place", line: `cp -r .git g3 && printf '[core]\n\tpager = evil\n' >> g3/config && rm -rf .git && mv g3 .git`, needs: "git"},
	{name: "puts a link in the repository's place", line: `rm -rf .git; mkdir e; ln -s e .git; cp /dev/null e/config`, needs: "git"},
	{name: "deletes the hooks' folder and makes it anew", line: `rm -rf .git/hooks; mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout`, needs: "git"},
	{name: "makes settings of the worktree", line: `printf '[core]\n\tpager = evil\n' > .git/config.worktree`, needs: "git"},
	{name: "moves the folder of objects' settings", line: `echo /x > .git/commondir`, needs: "git"},
	{name: "makes a repository in a folder", line: `git init -q sub && git -C sub config core.fsmonitor evil`, needs: "git"},
	{name: "makes a hook in a repository in a folder", line: `git init -q sub && echo evil > sub/.git/hooks/pre-commit`, needs: "git"},
	{name: "makes a bare repository in a folder", line: `git init -q --bare sub && git -C sub config core.fsmonitor evil`, needs: "git"},
	{name: "has a .git file lead to settings", line: `git init -q --bare data && git -C data config core.fsmonitor evil; mkdir w; echo 'gitdir: ../data' > w/.git`, needs: "git"},
	{name: "includes settings", line: `git init -q sub && printf '[include]\n\tpath = ../../x\n' >> sub/.git/config`, needs: "git"},
	{name: "has a helper fetch", line: `git init -q sub && git -C sub remote add origin 'ext::sh -c evil'`, needs: "git"},

	{name: "changes a workflow", line: `echo evil >> .github/workflows/ci.yml`},
	{name: "makes a workflow", line: `echo evil > .github/workflows/new.yml`},
	{name: "moves workflows away and makes them anew", line: `mv .github g; mkdir -p .github/workflows; echo evil > .github/workflows/ci.yml`},
	{name: "makes a folder of workflows in a fresh place", line: `rm -rf .github; mkdir -p .github/workflows; echo evil > .github/workflows/x.yml`},
	{name: "has a job do it when it has ended", line: `(sleep 0.3; echo evil > .mcp.json) >/dev/null 2>&1 & disown; true`, quiet: true},
	{name: "makes settings of an agent", line: `mkdir .claude && echo evil > .claude/settings.json`},
	{name: "makes servers of an agent", line: `echo evil > .mcp.json`},
	{name: "makes them and moves them in", line: `echo evil > m && mv m .mcp.json`},
	{name: "links them", line: `echo evil > m && ln m .mcp.json`},
	{name: "links them softly", line: `echo evil > m && ln -s m .mcp.json`},
	{name: "changes what an agent remembers", line: `echo evil >> CLAUDE.md`},
	{name: "replaces what an agent remembers", line: `echo evil > c; mv -f c CLAUDE.md`},
	{name: "makes what an agent remembers in a folder", line: `echo evil > notes/AGENTS.md`},
	{name: "makes tasks of an editor", line: `echo evil > .vscode/tasks.json`},
	{name: "moves an editor's settings", line: `mv .vscode v; mkdir .vscode; echo evil > .vscode/tasks.json`},
	{name: "makes what runs when somebody comes by", line: `mkdir -p deep/er && echo evil > deep/er/.envrc`},
	{name: "makes another CI's file", line: `echo evil > .gitlab-ci.yml`},

	{name: "reaches a port of the machine", line: `exec 3<>/dev/tcp/127.0.0.1/@OUT && echo evil >&3`},
	{name: "sends a packet", line: `echo evil > /dev/udp/127.0.0.1/@OUT`},
	{name: "reaches a socket of the machine", line: `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); connect(S,sockaddr_un(q(@SOCK))) or die $!; syswrite(S,"evil")'`, needs: "perl"},
	{name: "reaches a socket without a path", line: `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); connect(S,pack("Sa*",AF_UNIX,"\0box-@PID")) or die $!; syswrite(S,"evil")'`, needs: "perl"},
	{name: "ends a process outside", line: `kill -9 @PID`},
	{name: "ends all processes it can", line: `kill -9 -1`, quiet: true},
	{name: "sees a process outside", line: `cat /proc/@PID/cmdline /proc/@PID/environ`},
	{name: "goes through a process outside", line: `cat /proc/@PID/root` + `$HOME/.ssh/id_ed25519`},

	{name: "mounts over what is guarded", line: `mount --bind /tmp .git; mount -t tmpfs x /mnt; umount -l .git/config; umount .github/workflows; mount -o remount,rw /`, quiet: true},
	{name: "makes namespaces of its own", line: `unshare -Urm sh -c 'umount -l .github/workflows; echo evil > .github/workflows/ci.yml'; unshare -Un true && echo evil > evil`, needs: "unshare"},
	{name: "changes the kernel's settings", line: `cat /proc/sys/kernel/core_pattern > x; cat x > /proc/sys/kernel/core_pattern && echo evil`, quiet: true},
	{name: "makes a device", line: `mknod d b 254 0 && head -c 16 d && echo evil`, quiet: true},
	{name: "reads the machine's disk", line: `head -c 16 /dev/vda /dev/sda /dev/nvme0n1 /dev/mem /dev/kmsg && echo evil`, quiet: true},
	{name: "reads hidden passwords", line: `cat /etc/shadow && echo SECRET-shadow`, quiet: true},
	{name: "changes the system", line: `for f in /etc/passwd /usr/bin/env /bin/sh /var/lib/dpkg/status; do : >> $f && echo evil; done; touch /usr/bin/evil /etc/evil /evil /opt/evil /srv/evil && echo evil`, quiet: true},
}

// harm is what a world's outside noticed.
type harm struct {
	heard atomic.Int32
	was   map[string]string
	pid   *exec.Cmd
	stop  []func()
}

// expose makes the outside of a world: somebody who listens, and a process.
func (w *world) expose(line string) (*harm, string) {
	w.t.Helper()
	h := &harm{}
	port := h.listen(w.t, "tcp", "127.0.0.1:0").(*net.TCPAddr).Port
	h.packets(w.t, port)
	sock := filepath.Join(w.home, "src", "other", "s")
	h.listen(w.t, "unix", sock)
	h.pid = exec.Command("sleep", "3600")
	h.pid.Env = []string{"TOKEN=SECRET-outside"}
	if err := h.pid.Start(); err != nil {
		w.t.Fatal(err)
	}
	pid := strconv.Itoa(h.pid.Process.Pid)
	h.listen(w.t, "unix", "@box-"+pid)
	h.was = w.outside()
	return h, strings.NewReplacer("@OUT", strconv.Itoa(port), "@SOCK", sock, "@PID", pid).Replace(line)
}

// listen counts who connects.
func (h *harm) listen(t *testing.T, network, address string) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			h.heard.Add(1)
			_ = c.Close()
		}
	}()
	h.stop = append(h.stop, func() {
		defer l.Close()
		c, err := net.Dial(network, l.Addr().String())
		if err != nil {
			return // whoever took the socket away is noticed by that
		}
		_, _ = io.Copy(io.Discard, c) // it is hung up on when it is counted, and so is who came before it
		h.heard.Add(-1)
		_ = c.Close()
	})
	return l.Addr()
}

// packets counts what is sent to a port.
func (h *harm) packets(t *testing.T, port int) {
	t.Helper()
	const last = "that is all"
	conn, err := net.ListenPacket("udp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 100)
		for {
			n, _, err := conn.ReadFrom(buffer)
			if err != nil || string(buffer[:n]) == last {
				return
			}
			h.heard.Add(1)
		}
	}()
	h.stop = append(h.stop, func() {
		if _, err := conn.WriteTo([]byte(last), conn.LocalAddr()); err == nil {
			<-ended
		}
		_ = conn.Close()
	})
}

// done is everything that happened outside, in words.
func (h *harm) done(w *world, out string) []string {
	var found []string
	if strings.Contains(out, "SECRET") {
		found = append(found, "a secret was read")
	}
	now := w.outside()
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if h.was[path] != now[path] {
			found = append(found, path+" came or changed")
		}
	}
	for _, path := range slices.Sorted(maps.Keys(h.was)) {
		if _, there := now[path]; !there {
			found = append(found, path+" is gone")
		}
	}
	if by := h.endedBy(); by != ours {
		found = append(found, fmt.Sprintf("a process outside was ended by %v", by))
	}
	for _, stop := range h.stop {
		stop()
	}
	if n := h.heard.Load(); n > 0 {
		found = append(found, fmt.Sprintf("somebody outside heard %d times", n))
	}
	return found
}

// outside is what must not change: all of the home but the workspace's own files, and in that what runs elsewhere. Caches count.
func (w *world) outside() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(w.home, path)
		if d.IsDir() || strings.HasPrefix(name, ".local/share/tidemark/boxes/") || strings.HasPrefix(name, "src/site/") && !acts(name) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil && d.Type().IsRegular() {
			return err
		}
		if strings.HasSuffix(name, "/sub/.git/config") && !strings.Contains(string(text), "evil") && !strings.Contains(string(text), "include") {
			return nil // a repository as git makes them
		}
		info, _ := d.Info()
		out[name] = fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(text))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// acts reports whether a file of the workspace runs by itself or has something run. It is written apart from the box's own list.
func acts(name string) bool {
	if strings.Contains(name, ".git/") {
		base := filepath.Base(name)
		return strings.Contains(name, "/hooks/") && !strings.HasSuffix(base, ".sample") || strings.HasPrefix(base, "config") ||
			base == "commondir" && !strings.Contains(name, "/worktrees/")
	}
	for _, part := range []string{"/.github/", "/.claude/", "/.vscode/", "/.mcp.json", "/CLAUDE.md", "/AGENTS.md", "/.envrc", "/.gitlab-ci.yml", "/sub/config", "/w/.git", "/site/.git"} {
		if strings.Contains("/"+name, part) {
			return true
		}
	}
	return false
}

// ours is the signal that ends the process outside when all is done. No attack sends it.
const ours = syscall.SIGUSR2

// endedBy ends the process outside and says which signal did. A fatal signal that was sent before ours is the one that counts, even if the process has not
// died of it yet: so there is nothing to wait for.
func (h *harm) endedBy() syscall.Signal {
	_ = h.pid.Process.Signal(ours)
	_ = h.pid.Wait()
	return h.pid.ProcessState.Sys().(syscall.WaitStatus).Signal()
}

// BOX-01: Nothing that a line does in the box is noticed outside, and without the box each does harm: or it would prove nothing.
func TestNoAttackDoesHarm(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			skipThrough(t, a.name)
			if a.needs != "" && !has(strings.Fields(a.needs)...) {
				t.Skipf("needs %s", a.needs)
			}
			if !a.quiet && !again() {
				w := newWorld(t)
				h, line := w.expose(a.line)
				_, out := w.plain(line)
				if found := h.done(w, out); len(found) == 0 {
					t.Errorf("it does no harm without the box, so it shows nothing:\n%s", out)
				}
			}
			w := newWorld(t)
			h, line := w.expose(a.line)
			_, out, r := w.boxed(line)
			if found := h.done(w, out); len(found) > 0 {
				t.Errorf("%s\n%s\n%+v", strings.Join(found, "\n"), out, r)
			}
			if a.quiet && strings.Contains(out, "evil\n") {
				t.Errorf("it went through:\n%s", out)
			}
		})
	}
}
