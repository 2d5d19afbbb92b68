// Command memory measures what `tidemark serve` with its durable log has resident while it
// follows many long conversations, and what the log takes of the disk. It prints a line for
// each kind of conversation:
//
//	memory KIND peak_mb N end_mb N idle_mb N log_mb N
//
// Peak is the most the process ever had, end is when the last answer was given, idle is so many
// seconds later.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/bench/rig"
)

func main() {
	many := flag.Int("conversations", 1000, "how many conversations")
	size := flag.Int("size", 1<<20, "how many bytes each")
	idle := flag.Duration("idle", 20*time.Second, "how long nobody speaks before it is looked at again")
	only := flag.String("only", "", "one kind alone: words, results or growing")
	flag.Parse()
	defer rig.Clean()
	for _, k := range kinds {
		if *only != "" && k.name != *only {
			continue
		}
		if err := measure(context.Background(), k, *many, *size, *idle); err != nil {
			rig.Clean()
			fmt.Fprintf(os.Stderr, "memory: %s: %v\n", k.name, err)
			os.Exit(1)
		}
	}
}

func measure(ctx context.Context, k kind, many, size int, idle time.Duration) (err error) {
	dir, err := os.MkdirTemp("", "tidemark-memory-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	upstream, server, err := rig.Listen(ctx, http.HandlerFunc(answer))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	ours, err := rig.Serve(ctx, dir, upstream)
	if err != nil {
		return err
	}
	defer ours.Stop()
	c := newClients(ours.URL)
	defer c.http.CloseIdleConnections()
	if err := rig.Ready(ctx, c.http, ours.URL+"/healthz"); err != nil {
		return err
	}
	start := time.Now()
	if err := c.run(ctx, k, many, size); err != nil {
		return err
	}
	took := time.Since(start)
	end, peak, err := ours.Memory()
	if err != nil {
		return err
	}
	time.Sleep(idle)
	rest, _, err := ours.Memory()
	if err != nil {
		return err
	}
	log, err := taken(filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	fmt.Printf("memory %s peak_mb %d end_mb %d idle_mb %d log_mb %d\n", k.name, peak>>20, end>>20, rest>>20, log>>20)
	fmt.Printf("# %s: %d conversations of %d kB in %s\n", k.what, many, size>>10, took.Round(time.Second))
	return nil
}

// taken is how many bytes of the disk a folder takes.
func taken(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
