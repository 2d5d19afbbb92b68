// Command hooks measures what a coding agent waits for at its hook: tidemark-hook started as
// Claude Code starts it, once for each event, against `tidemark serve` with its durable log. It
// prints a line for each kind of start:
//
//	hooks KIND p50_ms N p90_ms N p99_ms N
//
// The kinds take turns: the machine may be busy, but then it is busy for all of them. Bare is an
// event of which the server is told nothing: what starting the process takes here.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidemark/tidemark/bench/rig"
)

func main() {
	many := flag.Int("starts", 500, "how many starts of each kind")
	flag.Parse()
	defer rig.Clean()
	if err := measure(context.Background(), *many); err != nil {
		rig.Clean()
		fmt.Fprintf(os.Stderr, "hooks: %v\n", err)
		os.Exit(1)
	}
}

// kind is one way to start the program.
type kind struct {
	name  string
	input func(i int) string
	took  []time.Duration
}

func measure(ctx context.Context, many int) (err error) {
	dir, err := os.MkdirTemp("", "tidemark-hooks-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := built(ctx, dir)
	if err != nil {
		return err
	}
	ours, err := rig.Serve(ctx, dir, "http://127.0.0.1:1") // no model is asked
	if err != nil {
		return err
	}
	defer ours.Stop()
	if err := rig.Ready(ctx, http.DefaultClient, ours.URL+"/healthz"); err != nil {
		return err
	}
	hook := []string{"--agent", "claude", "--data", filepath.Join(dir, "data"), "--sender", "owner"}
	if _, err := start(ctx, program, hook, event("UserPromptSubmit", `"prompt":"Run the tests, and mend what fails."`)); err != nil {
		return err
	}
	kinds := []*kind{
		{name: "bare", input: func(int) string { return event("Notification", `"message":"waiting"`) }},
		{name: "before", input: func(i int) string { return called("PreToolUse", i, "") }},
		{name: "after", input: func(i int) string { return called("PostToolUse", i, `,"tool_response":{"stdout":"ok"}`) }},
	}
	for i := range many {
		for _, k := range kinds {
			took, err := start(ctx, program, hook, k.input(i))
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			k.took = append(k.took, took)
		}
	}
	for _, k := range kinds {
		slices.Sort(k.took)
		at := func(p int) float64 { return float64(k.took[(len(k.took)-1)*p/100].Microseconds()) / 1000 }
		fmt.Printf("hooks %s p50_ms %.1f p90_ms %.1f p99_ms %.1f\n", k.name, at(50), at(90), at(99))
	}
	return nil
}

// built is the hook program, built as it is shipped.
func built(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "tidemark-hook")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./cmd/tidemark-hook")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build tidemark-hook: %w: %s", err, out)
	}
	return program, nil
}

// start runs the program once and says how long it took. A call that is refused is a fault: the
// wrong thing would be measured.
func start(ctx context.Context, program string, args []string, input string) (time.Duration, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader([]byte(input)), &said, &said
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, said.String())
	}
	return time.Since(began), nil
}

func called(name string, i int, more string) string {
	return event(name, fmt.Sprintf(`"tool_name":"Bash","tool_use_id":"t%d","tool_input":{"command":"go test ./part%d"}`, i, i)+more)
}

func event(name, rest string) string {
	return `{"session_id":"s-1","cwd":"/home/user/work","permission_mode":"default","hook_event_name":"` + name + `",` + rest + `}`
}
