package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The definition starts this program, with what it needs to start the server.
func TestTheDefinitionCanBeLookedAt(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"show", "--program", `C:\Program Files\Tidemark\tidemark.exe`, "--data", `C:\Users\anna\data`}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`run --program \"C:\Program Files\Tidemark\tidemark.exe\" --data C:\Users\anna\data"`, `obj= "NT SERVICE\tidemark"`, "restart/1000"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nis not in\n%s", want, out.String())
		}
	}
	for _, args := range [][]string{{}, {"show"}, {"dance", "--program", "p", "--data", "d"}} {
		if err := run(args, &out); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

// As the service it ends with its server, and ends the server where it is to end.
func TestTheServerEndsWithTheService(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the server in this test is a shell script")
	}
	program := filepath.Join(t.TempDir(), "tidemark")
	script := "#!/bin/sh\necho \"$@\"\n[ -e \"$3/die\" ] && exit 3\nexec sleep 600\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := server{program: program, data: t.TempDir(), config: "policy.yaml"}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() { ended <- s.run(ctx) }()
	log := filepath.Join(s.data, "serve.log")
	for until := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(log); strings.Contains(string(text), "serve --data "+s.data+" --config policy.yaml") {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the server was not started")
		}
	}
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("stopped: exit %d", code)
	}
	if err := os.WriteFile(filepath.Join(s.data, "die"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := s.run(t.Context()); code != 3 {
		t.Errorf("the server failed: exit %d", code)
	}
}
