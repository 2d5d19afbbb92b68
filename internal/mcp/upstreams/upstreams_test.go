package upstreams_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/mcp/upstreams"
)

func TestTheFileIsReadBackAsItWasWritten(t *testing.T) {
	data := t.TempDir()
	f, err := upstreams.Read(data)
	if err != nil || len(f.Servers) != 0 {
		t.Fatalf("where there is none: %+v, %v", f, err)
	}
	if raw, err := f.Bytes(); raw != nil || err != nil {
		t.Errorf("of nothing: %q, %v", raw, err)
	}
	hub := upstreams.Server{URL: "https://hub.example/mcp", Auth: "oauth", Headers: map[string]string{"X-Team": "a"}}
	other := upstreams.Server{URL: "https://other.example/mcp"}
	for i, want := range []string{"hub", "hub", "hub-claude", "hub-claude-2", "hub-claude"} {
		s := hub
		switch i {
		case 2, 4:
			s = other
		case 3:
			s = upstreams.Server{URL: "https://third.example"}
		}
		if got := f.Add("hub", "claude", s, nil); got != want {
			t.Errorf("add %d: got %s, want %s", i, got, want)
		}
	}
	raw, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(upstreams.Path(data), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := upstreams.Read(data)
	if err != nil || strings.Join(again.Names(), " ") != "hub hub-claude hub-claude-2" || !again.Servers["hub"].Same(hub) {
		t.Errorf("got %+v, %v", again, err)
	}
}

func TestAFileThatCannotBeUsedIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": `{`, "an unknown member": `{"servers":{},"x":1}`, "plain http": `{"servers":{"a":{"url":"http://a.example"}}}`,
		"no address": `{"servers":{"a":{}}}`, "a header that frames": `{"servers":{"a":{"url":"https://a.example","headers":{"Host":"b"}}}}`,
		"a header of two lines": `{"servers":{"a":{"url":"https://a.example","headers":{"X":"a\r\nY: b"}}}}`,
	} {
		if f, err := upstreams.Parse([]byte(text)); err == nil {
			t.Errorf("%s: got %+v", name, f)
		}
	}
}
