package console_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
)

// drawn is one recorded run, which ends with the call that is asked about (scripts/drawn).
type drawn struct {
	ID     string           `json:"id"`
	Tools  []map[string]any `json:"tools"`
	Host   []string         `json:"hostTools"`
	Events []struct {
		User *string `json:"user"`
		Call *struct {
			Tool string         `json:"tool"`
			Args map[string]any `json:"args"`
		} `json:"call"`
		Result any    `json:"result"`
		Answer string `json:"answer"`
	} `json:"events"`
}

// TestDrawnQuestions takes pictures of questions that scripts/drawn drew out of recorded runs, as a phone shows them first.
func TestDrawnQuestions(t *testing.T) {
	dir := os.Getenv("CONSOLE_DRAWN")
	if dir == "" {
		t.Skip("CONSOLE_DRAWN names no folder: scripts/drawn makes one, and runs this")
	}
	t.Setenv("CONSOLE_PICTURES", dir)
	f, err := os.Open(filepath.Join(dir, "drawn.jsonl"))
	do(t, err)
	defer f.Close()
	w := serve(t, "")
	b := w.browser()
	b.signIn("approver")
	b.size(390, 844)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for i := 1; lines.Scan(); i++ {
		var run drawn
		do(t, strictjson.Unmarshal(lines.Bytes(), &run))
		q, ok := w.play(fmt.Sprintf("run-%d", i), &run)
		if !ok {
			t.Errorf("%s: its last call is not asked about", run.ID)
			continue
		}
		name := fmt.Sprintf("drawn-%02d", i)
		b.open("/console/q/" + q.ID)
		b.until(`document.querySelector('.card')`)
		b.picture(name)
		b.wholePicture(filepath.Join(dir, name+"-whole.png"))
		do(t, os.WriteFile(filepath.Join(dir, name+".txt"), []byte(q.Text()+"\n"), 0o600))
		do(t, os.WriteFile(filepath.Join(dir, name+"-page.txt"), []byte(js[string](b, "document.querySelector('main').innerText")+"\n"), 0o600))
	}
	do(t, lines.Err())
}

// play tells a run to the server as its host would, and returns the question about its last call.
func (w *world) play(session string, run *drawn) (q engine.Question, ok bool) {
	w.t.Helper()
	model := func() {
		event := map[string]any{"messages": []any{}, "systemPrompt": "", "model": "m", "iteration": 0, "tools": run.Tools, "sessionKey": session}
		if run.Host != nil {
			event["hostTools"] = run.Host
		}
		w.hook(session, "before_llm_call", event)
	}
	for i, e := range run.Events {
		if e.User != nil {
			w.hook(session, "message_received", map[string]any{"content": *e.User, "from": "owner"})
			model()
			continue
		}
		id, last := fmt.Sprintf("c%d", i), i == len(run.Events)-1
		call := map[string]any{"toolName": e.Call.Tool, "params": e.Call.Args, "toolCallId": id}
		if w.hook(session, "before_tool_call", call)["block"] == true {
			q, ok = w.waiting(session)
			if last || !ok || e.Answer != "approve" && e.Answer != "once" && e.Answer != "task" {
				if !last && ok {
					w.api(http.MethodPost, "/v1/approvals/"+q.ID, w.app.Tokens.Approver, map[string]any{"decision": "deny"}, nil)
				}
				continue
			}
			w.api(http.MethodPost, "/v1/approvals/"+q.ID, w.app.Tokens.Approver, map[string]any{"decision": "approve"}, nil)
			if w.hook(session, "before_tool_call", call)["block"] == true {
				continue
			}
		}
		w.hook(session, "after_tool_call", map[string]any{"toolName": e.Call.Tool, "params": e.Call.Args, "result": e.Result, "toolCallId": id})
		model()
	}
	return w.waiting(session)
}

// waiting is the question of a session that waits.
func (w *world) waiting(session string) (engine.Question, bool) {
	w.t.Helper()
	for _, q := range w.questions() {
		if q.Session == session && q.State == "pending" {
			return q, true
		}
	}
	return engine.Question{}, false
}

// wholePicture keeps a picture of the page from top to bottom.
func (b *tab) wholePicture(file string) {
	b.t.Helper()
	beyond := true
	out, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: &beyond,
		Clip: &page.Viewport{Width: 390, Height: js[float64](b, "document.documentElement.scrollHeight"), Scale: 1},
	})
	do(b.t, err)
	do(b.t, os.WriteFile(file, out.Data, 0o600))
}
