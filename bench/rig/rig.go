// Package rig starts what measurements need: `tidemark serve` as it is used, with its durable
// log, built from this tree, and other programs beside it, each a process of its own. So nobody
// shares a collector with the client, and the kernel says what CPU and memory each took.
package rig

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is a program that runs.
type Process struct {
	URL string

	cmd   *exec.Cmd
	input io.Closer // open as long as it is to run
}

// Serve builds tidemark, unless that was done, and serves from a folder of its own before an
// upstream that speaks like OpenAI's.
func Serve(ctx context.Context, dir, upstream string) (*Process, error) {
	program, err := Built(ctx)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "tidemark.yaml")
	text := "maxIterations: 1000000\nllm:\n  upstreams:\n    openai: {api: openai, baseUrl: " + strconv.Quote(upstream) + "}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return Start(exec.CommandContext(ctx, program, "serve", "--json", "--log-level", "error",
		"--listen", "127.0.0.1:0", "--config", config, "--data", filepath.Join(dir, "data")))
}

// Built is tidemark, built if it is not there.
func Built(ctx context.Context) (string, error) {
	program := Program()
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/tidemark")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build tidemark: %w: %s", err, out)
	}
	return program, nil
}

// Program is where tidemark is built, once for a run; TIDEMARK names another build to measure.
func Program() string {
	if p := os.Getenv("TIDEMARK"); p != "" {
		return p
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("tidemark-bench-%d", os.Getpid()))
}

// Clean removes what was built.
func Clean() {
	if os.Getenv("TIDEMARK") == "" {
		_ = os.Remove(Program()) // it may not have been needed
	}
}

// Start starts a program that says in JSON where it listens.
func Start(cmd *exec.Cmd) (*Process, error) {
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var said struct {
		URL string `json:"url"`
	}
	p := &Process{cmd: cmd, input: input}
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		p.Stop()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p.URL = said.URL
	return p, nil
}

// Run starts a program that listens where it was told to, and keeps what it says out of the way.
func Run(cmd *exec.Cmd, address string) (*Process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Process{URL: address, cmd: cmd}, nil
}

// Port is a port of this machine that nobody listens on.
func Port(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }() // it has served its purpose
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.New("find a port: no TCP address")
	}
	return address.Port, nil
}

// Stop ends the program, and waits for it.
func (p *Process) Stop() {
	if p.input != nil {
		_ = p.input.Close()
	}
	_ = p.cmd.Process.Signal(os.Interrupt)
	gone := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer gone.Stop()
	_ = p.cmd.Wait() // it was told to end, however it says so
}

// CPU is the time the program has spent, in nanoseconds.
func (p *Process) CPU() (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of a process: %w", err)
	}
	text := string(raw)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const user, system = 11, 12 // fields 14 and 15 of the line, behind the name
	var total float64
	for _, i := range []int{user, system} {
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return 0, err
		}
		total += n
	}
	const tick = 1e7 // USER_HZ is 100 everywhere Go runs on Linux
	return total * tick, nil
}

// Memory is what the program has resident now, and the most it had, in bytes.
func (p *Process) Memory() (now, most int64, err error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, fmt.Errorf("read the memory of a process: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		n, _ := strconv.ParseInt(fields[1], 10, 64) // the lines that count have a number
		switch fields[0] {
		case "VmRSS:":
			now = n << 10
		case "VmHWM:":
			most = n << 10
		}
	}
	if now == 0 {
		err = errors.New("read the memory of a process: it has none")
	}
	return now, most, err
}

// Ready waits until somebody answers at an address.
func Ready(ctx context.Context, client *http.Client, address string) error {
	for range 1200 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		if resp, err := client.Do(req); err == nil {
			return resp.Body.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%s does not answer", address)
}

// bareFlag makes the program that measures the reverse proxy before the upstream that follows.
const bareFlag = "-bare-proxy"

// Bare starts the least that could stand between: a reverse proxy that understands nothing, this
// program in a process of its own. Programs that use it call BareMain first.
func Bare(ctx context.Context, upstream string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return Start(exec.CommandContext(ctx, self, bareFlag, upstream))
}

// BareMain is that proxy, where this process was started as it: it ends when its input does, and
// the program with it.
func BareMain() {
	if len(os.Args) != 3 || os.Args[1] != bareFlag {
		return
	}
	if err := serveBare(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveBare(upstream string) error {
	target, err := url.Parse(upstream)
	if err != nil {
		return err
	}
	bare := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/openai")
	}}
	address, server, err := Listen(context.Background(), bare)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": address}); err != nil {
		return err
	}
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return server.Close()
}

// Listen serves on a port of this machine until the server is closed.
func Listen(ctx context.Context, h http.Handler) (address string, s *http.Server, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen: %w", err)
	}
	s = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(listener) }() // ends with Close
	return "http://" + listener.Addr().String(), s, nil
}
