package verifier

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
)

// Field is one named value of a question. It is an alias: who shows it imports nothing of
// this package.
type Field = struct{ Name, Value string }

// Asker puts a question to people and waits for one of them. It is the Telegram bot as
// this package needs it.
type Asker interface {
	// Ask shows the title and the fields with an allow and a deny button. by is who
	// decided. It returns soon after ctx ends: with context.DeadlineExceeded because time is up, with
	// context.Canceled because the answer is not needed any more. Either way the message
	// is edited so that nobody answers in vain. An error is no answer.
	Ask(ctx context.Context, title string, fields []Field, timeout time.Duration) (allow bool, by string, err error)
	// Check reports whether people could be asked now.
	Check(ctx context.Context) error
}

const (
	askTitle  = "Tool verification request"
	labelRest = "Parameters"
	maxMain   = 1500 // characters of a command, path or address that are shown
	maxRest   = 800  // characters of the other parameters
	maxName   = 120  // characters of a name
)

// telegram is the chat that is asked.
type telegram struct {
	asker   Asker
	timeout time.Duration
}

func (t *telegram) name() string         { return byTelegram }
func (t *telegram) limit() time.Duration { return t.timeout }

func (t *telegram) ask(ctx context.Context, c engine.Check) (answer, error) {
	allow, by, err := t.asker.Ask(ctx, askTitle, describe(c), t.timeout)
	if err != nil {
		why := "could not be asked"
		if errors.Is(err, context.DeadlineExceeded) {
			why = fmt.Sprintf("no answer within %v", t.timeout)
		}
		return answer{}, &failure{why, err}
	}
	verb := "denied"
	if allow {
		verb = "allowed"
	}
	reason := verb + " on Telegram"
	if who := shorten(by, maxName); who != "" {
		reason += " by " + who
	}
	return answer{allow, reason}, nil
}

// mains are the parameters that say most about a call, with what a person calls them.
var mains = [...]struct{ param, label string }{
	{"command", "Command"}, {"cmd", "Command"}, {"path", "Path"}, {"file_path", "Path"}, {"filePath", "Path"}, {"url", "URL"},
}

// describe is a call as a person sees it. Nothing is left out silently: what a person
// cannot see would be allowed unseen.
func describe(c engine.Check) []Field {
	out := []Field{{"Tool", c.Tool}}
	rest := string(c.Params)
	if fields, err := members(c.Params); err == nil {
		for _, m := range mains {
			var text string
			if raw, ok := fields[m.param]; ok && raw.Kind() == '"' && strictjson.Unmarshal(raw, &text) == nil {
				out = append(out, Field{m.label, text})
				delete(fields, m.param)
			}
		}
		if left, err := strictjson.Marshal(fields); err == nil {
			rest = string(left)
		}
	}
	if rest != "{}" {
		out = append(out, Field{labelRest, rest})
	}
	for _, f := range []Field{{"Agent", c.Agent}, {"Session", c.Session}, {"Taint", c.Taint.String()}} {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	for i, f := range out {
		out[i].Value = visible(f.Value, room(f.Name))
	}
	return out
}

// room is how many characters of a field are shown.
func room(label string) int {
	for _, m := range mains {
		if m.label == label {
			return maxMain
		}
	}
	if label == labelRest {
		return maxRest
	}
	return maxName
}

// visible is text with everything that does not print written out, so that a line end or
// an invisible character cannot hide a part, and with a note where it was cut.
func visible(s string, n int) string {
	var b strings.Builder
	left := n
	for i, r := range s {
		if left == 0 {
			return b.String() + fmt.Sprintf("… (%d more bytes not shown)", len(s)-i)
		}
		left--
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}
