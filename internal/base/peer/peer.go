// Package peer knows which process speaks on a connection of this machine, and whose hook it is.
//
// It reads /proc and keeps notes of readers in a folder of ours (Children); it does no other I/O. Where there is no /proc (macOS,
// Windows) it knows nothing, and says so.
//
// Invariants:
//   - a process is its number together with when it started: a number alone is soon somebody else's;
//   - a process that cannot be looked at is nobody's.
package peer

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"sync"
)

// Socket is where hooks of this machine reach a server, in its data folder: there the kernel says which process speaks.
func Socket(data string) string { return filepath.Join(data, "hook.sock") }

// maxSocket is how long the name of a socket may be, on the stricter of the systems we know.
const maxSocket = 103

// Fits reports whether a data folder can have such a socket.
func Fits(data string) bool { return len(Socket(data)) <= maxSocket }

// HookProgram is part of the command line by which a shell runs a hook.
const HookProgram = "tidemark-hook"

// Unseen is the agent of a process that is in another space of processes than the server, as in a container.
const Unseen = "unseen"

type connKey struct{}

// With notes the process at the other end of a connection, for http.Server.ConnContext.
func With(ctx context.Context, c net.Conn) context.Context {
	pid, ok := caller(c)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, connKey{}, pid)
}

// process is one that was looked at. The zero process is none.
type process struct {
	pid, parent int
	name        string // by which it is known: boot, number and start
	args        []string
}

// Book knows the agents whose hooks have spoken. The zero Book knows none; it is safe for concurrent use.
type Book struct {
	Children Children // that read; none: nobody is one

	mu     sync.Mutex
	agents map[string]bool // guarded by mu
}

// maxAgents bounds the book; one that is full forgets, and then fewer processes are known for what they are.
const maxAgents = 4096

// Agent is the process that speaks itself, or that of the agent whose hook speaks: what started the hook, past the shell that ran
// its command line. "" where nobody can tell, or nothing but the system did.
func (b *Book) Agent(ctx context.Context, self bool) string {
	pid, ok := ctx.Value(connKey{}).(int)
	if !ok {
		return ""
	}
	if pid == 0 {
		return Unseen
	}
	agent, ok := look(pid)
	if ok && !self {
		if agent, ok = look(agent.parent); ok && runsHook(agent.args) {
			agent, ok = look(agent.parent)
		}
	}
	if !ok || agent.pid <= 1 {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.agents == nil || len(b.agents) >= maxAgents {
		b.agents = map[string]bool{}
	}
	b.agents[agent.name] = true
	return agent.name
}

// Reads reports whether the process that speaks is one of ours that reads, and was given this word.
func (b *Book) Reads(ctx context.Context, word string) bool { return b.Children.Has(ctx, word) }

// runsHook reports whether a command line is a shell's that was given the hook's.
func runsHook(args []string) bool {
	return len(args) >= 3 && strings.HasPrefix(args[1], "-") && strings.HasSuffix(args[1], "c") && strings.Contains(args[2], HookProgram)
}

// Follows reports whether a process may go on where another has ended: one that an agent started is the agent's word, not its
// owner's.
func (b *Book) Follows(process, ended string) bool {
	if process == "" || process == Unseen || ended == Unseen || lives(ended) {
		return false
	}
	at, ok := look(pidOf(process))
	if !ok || at.name != process {
		return false
	}
	for range maxDepth {
		if at, ok = look(at.parent); !ok {
			return at.pid <= 1
		}
		if b.knows(at.name) {
			return false
		}
	}
	return false
}

// maxDepth bounds how far up is looked.
const maxDepth = 64

func (b *Book) knows(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.agents[name]
}

// lives reports whether a process may still run.
func lives(name string) bool {
	at, ok := look(pidOf(name))
	return ok && at.name == name
}
