// Command gateways puts Tidemark's LLM proxy beside two gateways that people use, LiteLLM and
// Portkey, and beside a reverse proxy that does nothing, before one upstream that answers at
// once. It prints a table in Markdown. scripts/gateways installs both from their registries and
// says where they are.
//
// None of them does the same work: Tidemark reads and judges what passes and writes a durable
// log, LiteLLM and Portkey translate, route and count. The table says what each costs in the way.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/bench/rig"
)

func main() {
	rig.BareMain()
	python := flag.String("litellm", os.Getenv("LITELLM"), "the program litellm; empty leaves it out")
	portkey := flag.String("portkey", os.Getenv("PORTKEY"), "start-server.js of Portkey's gateway; empty leaves it out")
	node := flag.String("node", "node", "the program that runs it")
	rounds := flag.Int("rounds", 400, "requests of each kind, in turns")
	flag.Parse()
	err := run(context.Background(), *rounds, programs{*python, *portkey, *node})
	rig.Clean()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gateways:", err)
		os.Exit(1)
	}
}

// programs are where the others are.
type programs struct{ litellm, portkey, node string }

// gateway is one of those that are compared.
type gateway struct {
	name    string
	base    string // before /v1/chat/completions
	header  http.Header
	process *rig.Process // nil: there is none, the upstream is asked itself
	figures
}

func run(ctx context.Context, rounds int, p programs) (err error) {
	dir, err := os.MkdirTemp("", "tidemark-gateways-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	upstream, server, err := rig.Listen(ctx, http.HandlerFunc(answer))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	list, err := open(ctx, dir, upstream, p)
	defer func() {
		for _, g := range list {
			if g.process != nil {
				g.process.Stop()
			}
		}
	}()
	if err != nil {
		return err
	}
	if err := measure(ctx, list, rounds); err != nil {
		return err
	}
	show(list, rounds)
	return nil
}

// open starts all of them.
func open(ctx context.Context, dir, upstream string, p programs) ([]*gateway, error) {
	list := []*gateway{{name: "none (the upstream itself)", base: upstream}}
	add := func(name, health string, header http.Header, path string, start func() (*rig.Process, error)) error {
		process, err := start()
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		list = append(list, &gateway{name: name, base: process.URL + path, header: header, process: process})
		return rig.Ready(ctx, http.DefaultClient, process.URL+health)
	}
	err := add("`httputil.ReverseProxy`", "/healthz", nil, "", func() (*rig.Process, error) { return rig.Bare(ctx, upstream) })
	if err == nil {
		err = add("Tidemark", "/healthz", nil, "/openai", func() (*rig.Process, error) { return rig.Serve(ctx, dir, upstream) })
	}
	if err == nil && p.portkey != "" {
		header := http.Header{"X-Portkey-Provider": {"openai"}, "X-Portkey-Custom-Host": {upstream + "/v1"}}
		err = add("Portkey", "/", header, "", func() (*rig.Process, error) { return startPortkey(ctx, p) })
	}
	if err == nil && p.litellm != "" {
		err = add("LiteLLM", "/health/liveliness", nil, "", func() (*rig.Process, error) { return startLiteLLM(ctx, dir, upstream, p) })
	}
	return list, err
}

func startPortkey(ctx context.Context, p programs) (*rig.Process, error) {
	port, err := rig.Port(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, p.node, p.portkey, fmt.Sprintf("--port=%d", port), "--headless")
	cmd.Env = append(os.Environ(), "NODE_ENV=production", "TRUSTED_CUSTOM_HOSTS=127.0.0.1,localhost")
	return rig.Run(cmd, fmt.Sprintf("http://127.0.0.1:%d", port))
}

// key is what clients send. LiteLLM does not start without one of its own.
const key = "sk-bench-0123456789abcdef0123456789abcdef"

func startLiteLLM(ctx context.Context, dir, upstream string, p programs) (*rig.Process, error) {
	port, err := rig.Port(ctx)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "litellm.yaml")
	text := strings.NewReplacer("UPSTREAM", upstream, "KEY", key).Replace(`model_list:
  - model_name: m
    litellm_params: {model: openai/m, api_base: "UPSTREAM/v1", api_key: "KEY"}
general_settings: {master_key: "KEY"}
`)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, p.litellm, "--config", config, "--host", "127.0.0.1", "--port", fmt.Sprint(port), "--telemetry", "False")
	cmd.Env = append(os.Environ(), "LITELLM_LOG=ERROR", "LITELLM_LOCAL_MODEL_COST_MAP=True")
	return rig.Run(cmd, fmt.Sprintf("http://127.0.0.1:%d", port))
}

// show prints the table. What is added is against asking the upstream itself.
func show(list []*gateway, rounds int) {
	plain := list[0]
	fmt.Println("| through | p50 added | p99 added | first delta added (p50) | requests/s, 16 at once | CPU per 1,000 | resident |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, g := range list {
		if g.process == nil {
			fmt.Printf("| %s | (%s) | (%s) | (%s) | %.0f | | |\n", g.name, ms(g.p50), ms(g.p99), ms(g.first), g.rate)
			continue
		}
		first := ms(g.first - plain.first)
		if g.mute {
			first = "fails"
		}
		fmt.Printf("| %s | %s | %s | %s | %.0f | %.2f s | %d MB |\n", g.name,
			ms(g.p50-plain.p50), ms(g.p99-plain.p99), first, g.rate, g.cpu, g.memory>>20)
	}
	fmt.Printf("\n%d requests of 10 kB of each kind in turns, each a conversation that grows; times of asking the upstream itself in brackets.\n", rounds)
}

func ms(ns float64) string { return fmt.Sprintf("%.2f ms", ns/1e6) }
