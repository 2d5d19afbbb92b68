package verifier

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// soon is when a certificate's end is worth a word.
const soon = 14 * 24 * time.Hour

// Render prints the result with what to do next.
func (t *TestResult) Render(w io.Writer) error {
	var b bytes.Buffer
	if len(t.Webhooks) == 0 && t.Telegram == nil {
		b.WriteString("No verifier is configured: there is nobody to ask.\n")
	}
	for i := range t.Webhooks {
		t.Webhooks[i].render(&b)
	}
	if t.Telegram != nil {
		t.Telegram.render(&b)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("print test result: %w", err)
	}
	return nil
}

func (w *WebhookTest) render(b *bytes.Buffer) {
	fmt.Fprintf(b, "Webhook %s", w.URL)
	if w.Agent != "" {
		fmt.Fprintf(b, " (agent %s)", w.Agent)
	}
	b.WriteByte('\n')
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "  %-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("latency", "%.1f ms (DNS %.1f, connect %.1f, TLS %.1f, first byte %.1f)", w.Total, w.DNS, w.Connect, w.TLS, w.FirstByte)
	if w.Status != 0 {
		line("status", "%d", w.Status)
	}
	if w.Parsed {
		line("decision", "%s", w.Decision)
	}
	if w.Reason != "" {
		line("reason", "%s", w.Reason)
	}
	if w.Body != "" {
		line("answered", "%s", w.Body)
	}
	line("signature", "%s", w.Signature)
	if !w.Expires.IsZero() {
		line("certificate", "valid until %s", w.Expires.Format(time.DateOnly))
	}
	if w.Error != "" {
		line("error", "%s", w.Error)
	}
	for _, step := range w.next() {
		line("next", "%s", step)
	}
}

// next is what the operator should do about it.
func (w *WebhookTest) next() []string {
	var out []string
	switch {
	case w.Status == 0:
		out = append(out, "check the URL, the endpoint's firewall and that it is running; the failMode decides until it answers")
	case w.Status >= 300 && w.Status < 400:
		out = append(out, "configure the URL it redirects to; redirects are never followed")
	case w.Status == 401 || w.Status == 403:
		out = append(out, "check webhook.headers and webhook.secret: the endpoint did not accept them")
	case w.Status > 299:
		out = append(out, "look into the endpoint's log: it must answer with a status from 200 to 299")
	case !w.Parsed:
		out = append(out, `make it answer {"decision": "allow"} or {"decision": "deny", "reason": "…"}, and nothing else`)
	}
	switch w.Signature {
	case SignatureUnchecked:
		out = append(out, "it does not check signatures: anybody who reaches it can ask in your name; compare "+
			headerOpenClaw+" or X-Tidemark-Signature")
	case SignatureNone:
		out = append(out, "set webhook.secret, so that the endpoint can tell your requests from others")
	case SignatureUnknown:
		if w.Parsed {
			out = append(out, "let it allow the tool "+TestTool+" to find out whether it checks signatures")
		}
	}
	if !w.Expires.IsZero() && w.Expires.Sub(w.now) < soon {
		out = append(out, "renew its certificate: calls fail when it ends")
	}
	if len(out) == 0 {
		out = append(out, "nothing: it works")
	}
	return out
}

func (t *TelegramTest) render(b *bytes.Buffer) {
	b.WriteString("Telegram\n")
	if t.Error == "" {
		b.WriteString("  bot and chat answer\n  next        nothing: it works\n")
		return
	}
	fmt.Fprintf(b, "  error       %s\n  next        check botToken and chatId, and that the bot is a member of the chat\n", t.Error)
}
