package sqlite_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// What was acknowledged is still there when the log is opened again, and can be checked by
// somebody who does not write it.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "log")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tidemark.db")

	log, err := sqlite.Open(ctx, path, sqlite.Options{LockWait: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := engine.New(engine.Options{Policy: policy.Default(), Store: log, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		fmt.Println(err)
		return
	}
	owner := trust.Sender{Provider: "chat", ID: "ada", IsOwner: true}
	_, err = m.Begin(ctx, engine.Turn{Ref: engine.Ref{Session: "desk", Turn: "1"}, Sender: owner})
	fmt.Println("begin:", err)
	fmt.Println("close:", log.Close())

	reader, err := sqlite.OpenReadOnly(ctx, path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Close()
	report, err := reader.Verify(ctx, nil)
	fmt.Println("sessions:", report.Sessions, "whole:", report.OK(), err)
	// Output:
	// begin: <nil>
	// close: <nil>
	// sessions: 1 whole: true <nil>
}
