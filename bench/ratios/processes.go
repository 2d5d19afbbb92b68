package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Both proxies are processes of their own, as in use: ours is `tidemark serve` with its
// durable log, built from this tree, the other is this program as a reverse proxy. So neither
// shares its collector with the client, and the kernel says what CPU each took.

// process is a proxy that runs.
type process struct {
	url   string
	cmd   *exec.Cmd
	input io.Closer // open as long as it is to run
}

// bareFlag makes this program the reverse proxy before the upstream that follows.
const bareFlag = "-bare-proxy"

// serveBare is the other proxy: it understands nothing. It ends when its input does.
func serveBare(upstream string) error {
	target, err := url.Parse(upstream)
	if err != nil {
		return err
	}
	bare := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/openai")
	}}
	p := &proxies{}
	address, err := p.listen(context.Background(), bare)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": address}); err != nil {
		return err
	}
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return p.servers[0].Close()
}

func startBare(ctx context.Context, upstream string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(exec.CommandContext(ctx, self, bareFlag, upstream))
}

// startOurs builds the program and serves from a folder of its own.
func startOurs(ctx context.Context, dir, upstream string) (*process, error) {
	program, err := program(ctx)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "tidemark.yaml")
	text := "maxIterations: 1000000\nllm:\n  upstreams:\n    openai: {api: openai, baseUrl: " + strconv.Quote(upstream) + "}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return start(exec.CommandContext(ctx, program, "serve", "--json", "--log-level", "error",
		"--listen", "127.0.0.1:0", "--config", config, "--data", filepath.Join(dir, "data")))
}

// program is tidemark, built if it is not there.
func program(ctx context.Context) (string, error) {
	program := builtProgram()
	if _, err := os.Stat(program); err != nil {
		build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/tidemark")
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build tidemark: %w: %s", err, out)
		}
	}
	return program, nil
}

// builtProgram is where tidemark is built, once for all comparisons.
func builtProgram() string {
	if p := os.Getenv("TIDEMARK"); p != "" {
		return p // another build is to be measured
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("tidemark-ratios-%d", os.Getpid()))
}

// start waits until a process says where it listens.
func start(cmd *exec.Cmd) (*process, error) {
	cmd.Stderr = os.Stderr
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
	p := &process{cmd: cmd, input: input}
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", cmd.Path, err), p.stop())
	}
	p.url = said.URL
	return p, nil
}

func (p *process) stop() error {
	_ = p.input.Close()
	_ = p.cmd.Process.Signal(os.Interrupt)
	gone := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer gone.Stop()
	_ = p.cmd.Wait() // it was told to end, however it says so
	return nil
}

// cpu is the time a process has spent, in nanoseconds.
func (p *process) cpu() (float64, error) {
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

// ready waits until a proxy answers.
func ready(ctx context.Context, client *http.Client, base string) error {
	for range 100 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
		if err != nil {
			return err
		}
		if resp, err := client.Do(req); err == nil {
			return resp.Body.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%s does not answer", base)
}
