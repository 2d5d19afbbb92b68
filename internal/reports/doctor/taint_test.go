package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/doctor"
	"github.com/tidemark/tidemark/internal/test/prooftest"
)

// passes is a relay that passes everything; refuses one that does not once a page was read by any relay of its data folder.
const (
	passes  = `shift 6; exec "$@"`
	refuses = `data=$3 name=$5; shift 6
while IFS= read -r line; do
case $line in
*read_page*) echo read >"$data/read" ;;
*post_note*) if [ -e "$data/read" ]; then id=${line#*'"id":'}; printf '{"jsonrpc":"2.0","id":%s,"result":` + refusal + `}\n' "${id%%,*}"; continue; fi ;;
esac
printf '%s\n' "$line" | "$@"
done`
	refusal = `{"isError":true,"content":[{"type":"text","text":"Blocked.\\nRule: tide"}]}`
	accepts = `{"content":[{"type":"text","text":"posted"}]}`
)

// MCP-12
func TestWhatServersShareIsProvedWithServers(t *testing.T) {
	for name, tt := range map[string]struct {
		relay   string
		gateway string // what it answers after the page; before it posts
		want    map[string]string
	}{
		"all of it":            {refuses, refusal, map[string]string{"relays": "good what one server brought counts at another", "gateway": "good what one server brought"}},
		"not over HTTP":        {refuses, accepts, map[string]string{"relays": "good what one", "gateway": "broken WHAT WAS READ"}},
		"not between relays":   {passes, refusal, map[string]string{"relays": "broken WHAT WAS READ", "gateway": "good what one"}},
		"a relay that is mute": {"exit 3", refusal, map[string]string{"servers": "broken could not be tried"}},
		"a relay that refuses from the start": {strings.Replace(refuses, `[ -e "$data/read" ]`, "true", 1), refusal,
			map[string]string{"servers": "broken could not be tried: a server that a shell starts failed before anything was read"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CLAUDE_CODE_SESSION_ID", "somebody's")
			dir := t.TempDir()
			program := filepath.Join(dir, "tidemark")
			if err := os.WriteFile(program, []byte("#!/bin/sh\n[ -z \"$CLAUDE_CODE_SESSION_ID\" ] || exit 9\n"+tt.relay+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			asked, stopped := 0, false
			serve := func(_ context.Context, upstream string) (doctor.Bench, error) {
				s := httptest.NewServer(prooftest.Handler("token", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked++
					if asked > 1 {
						fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, strings.ReplaceAll(tt.gateway, `\\n`, `\n`))
						return
					}
					res, err := http.Post(upstream, "application/json", r.Body)
					if err != nil {
						t.Error(err)
						return
					}
					_, err = io.Copy(w, res.Body)
					if err := errors.Join(err, res.Body.Close()); err != nil {
						t.Error(err)
					}
				})))
				return doctor.Bench{URL: s.URL, Token: "token", Data: dir, Stop: func() error { stopped = true; s.Close(); return nil }}, nil
			}
			got := map[string]string{}
			for _, f := range doctor.CheckTaint(program, serve).Run(t.Context()) {
				got[f.Name] = f.Grade.String() + " " + f.Text
			}
			for name, want := range tt.want {
				if !strings.HasPrefix(got[name], want) {
					t.Errorf("%s: got %q, want %q", name, got[name], want)
				}
			}
			if len(got) != len(tt.want) || !stopped {
				t.Errorf("got %v; the server ended: %v", got, stopped)
			}
		})
	}
}

func TestWhatServersShareIsNotProvedWithoutAServer(t *testing.T) {
	none := func(context.Context, string) (doctor.Bench, error) { return doctor.Bench{}, errors.New("no room") }
	got := doctor.CheckTaint("/no/such/tidemark", none).Run(t.Context())
	if len(got) != 1 || got[0].Grade != doctor.Broken || !strings.Contains(got[0].Text, "no room") {
		t.Errorf("got %v", got)
	}
}
