// Command ratios compares Tidemark with the least that could do the job, on this
// machine, in one process, and prints one line for each comparison:
//
//	ratio NAME VALUE
//
// For decide_* and proxy_* a value is a quotient of times, ours over the other's, so less is better;
// for durable_*, http_*, hot_* and postgres_* it is one of rates, so more is better. 1 always means that we
// add nothing. Rounds alternate between the two sides and the median of the rounds is shown:
// the machine may be busy, but then it is busy for both.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/rig"
	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// comparison is one line of the output.
type comparison struct {
	name    string
	what    string
	measure func(ctx context.Context) (result, error)
}

func comparisons() []comparison {
	return []comparison{
		{"decide_vs_cel", "a decision by table, recorded nowhere / one bare CEL evaluation", decideVsCEL},
		{"decide_cel_rule_vs_cel", "a decision with a CEL rule / the same bare evaluation", decideRuleVsCEL},
		{
			"decide_shipped_vs_cel",
			"a decision by the shipped policy, which looks at the call and where its address came from / the same bare evaluation",
			decideShippedVsCEL,
		},
		{
			"decide_shipped_allowed_vs_cel",
			"the same for a call that the user asked for, after a page was read",
			decideShippedAllowedVsCEL,
		},
		{"decide_send_vs_read", "an e-mail that the user asked for, allowed by the shipped policy / a page that they asked for", decideSendVsRead},
		{"decide_growth", "a decision after 100,000 events / after 100", decideGrowth},
		{"durable_vs_bare", "durable decisions per second, 64 sessions at once / bare inserts of the same bytes per second", durableVsBare},
		{"hot_vs_many", "durable decisions per second, 64 callers of one session / of 64 sessions", hotVsMany},
		{"postgres_vs_sqlite", "durable decisions per second, 64 sessions at once, log in PostgreSQL / in SQLite", postgresVsSQLite},
		{"kept_vs_forgotten", "pages of 2 kB read and calls decided, durably, 64 at once, what was read kept sealed / kept not at all", keptVsForgotten},
		{"http_vs_bare", "before_tool_call per second over loopback, durable / a bare handler for the same JSON", httpVsBare},
		{"http_shipped_vs_bare", "the same with the shipped policy, for a call that the user asked for, after a page was read", httpShippedVsBare},
		{
			"http_vs_bare_commit",
			"the same / a bare handler that commits a row of the same bytes before it answers, grouped alike",
			httpVsBareCommit,
		},
		{"http_memory_vs_bare", "the same with the log in memory", httpMemoryVsBare},
		{"index_ns_per_byte", "not a quotient: nanoseconds to take in one byte of a tool result / (time to copy it)", indexPerByte},
		{"origin_vs_scan", "where a 200-byte value came from, 10 MB in the session / a plain scan of the 10 MB", originVsScan},
		{"replay_runs_per_s", "not a quotient: recorded runs replayed per second, two calls and a page each", replayRuns},
		{
			"hear_2kb_us",
			"not a quotient: microseconds to hear a message of the user's of 2 kB / (one bare evaluation)",
			hear,
		},
		{
			"proxy_1mb",
			"a request of 1 MB through tidemark serve, one exchange longer than the last / through a reverse proxy that does nothing",
			proxy1MB,
		},
		{"proxy_5mb", "the same with 5 MB", proxy5MB},
		{"proxy_10kb", "the same with 10 kB", proxy10kB},
		{"proxy_cpu", "CPU time of tidemark serve for a request of 1 MB / of the reverse proxy", proxyCPU},
		{
			"proxy_first_delta_us",
			"not a quotient: microseconds by which a stream's first text comes later than through that reverse proxy",
			proxyFirstDelta,
		},
		{
			"mcp_http_vs_reverseproxy",
			"CPU time that the MCP gateway adds to a call of 200 bytes, log in memory / that a reverse proxy adds",
			mcpHTTP,
		},
		{"mcp_garbage_kb", "not a quotient: kilobytes of garbage that the gateway adds to such a call / (the reverse proxy's)", mcpGarbage},
		{"mcp_durable_vs_direct", "a call of a server of the Go SDK through the gateway, on a durable log / without it", mcpDurable},
		{"mcp_hop_vs_direct", "the same call through a reverse proxy that records nothing / without it: what any second hop costs", mcpHop},
		{"mcp_stdio_added_us", "not a quotient: microseconds that the relay adds to a call over standard input and output", mcpStdio},
	}
}

func main() {
	rig.BareMain()
	testing.Init() // testing.Benchmark reads its flags
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // for both sides, as tidemark serve does: else a heap this small measures the collector
	}
	benchtime := flag.String("benchtime", "150ms", "how long each measurement runs")
	explain := flag.Bool("explain", false, "say what each ratio compares, with the times themselves")
	only := flag.String("only", "", "measure only what begins so")
	flag.Parse()
	defer rig.Clean()
	if err := flag.Set("test.benchtime", *benchtime); err != nil {
		fail(err)
	}
	for _, c := range comparisons() {
		if !strings.HasPrefix(c.name, *only) {
			continue
		}
		r, err := c.measure(context.Background())
		if errors.Is(err, pgtest.ErrMissing) {
			fmt.Printf("# %s: %v\n", c.name, err)
			continue
		}
		if err != nil {
			fail(fmt.Errorf("measure %s: %w", c.name, err))
		}
		if *explain {
			fmt.Printf("# %s: %s, %s each\n", c.what, nanoseconds(r.ours), nanoseconds(r.theirs))
		}
		fmt.Printf("ratio %s %.2f\n", c.name, r.ratio)
	}
}

func nanoseconds(n float64) time.Duration { return time.Duration(n).Round(time.Nanosecond) }

func fail(err error) {
	fmt.Fprintf(os.Stderr, "ratios: %v\n", err)
	os.Exit(1)
}
