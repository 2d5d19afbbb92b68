package tui

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// notifyLimit is how long a notification may take to be shown.
const notifyLimit = 5 * time.Second

// Desktop shows notifications of this desktop; nil where there is no program that does.
func Desktop() func(title, body string) {
	if path, err := exec.LookPath("notify-send"); err == nil {
		return func(title, body string) { run(path, "--app-name=tidemark", "--", title, escape(body)) }
	}
	if path, err := exec.LookPath("osascript"); err == nil {
		const script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
		return func(title, body string) { run(path, "-e", script, title, body) }
	}
	return nil
}

// run shows one; a desktop that does not is none of a person's worry here.
func run(path string, args ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), notifyLimit)
	defer cancel()
	_ = exec.CommandContext(ctx, path, args...).Run() //nolint:gosec // the desktop's own, found in the path
}

// escape keeps what others wrote from being markup, which notifications may have.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// told notifies of a question that is new. It says which tool and what it acts on: enough to
// come and look, and no more than the screen shows.
func (m *screen) told(a ask) {
	if m.notify == nil {
		return
	}
	args, _ := arguments(a.Args)
	body := line(a.Session)
	if a.Kind == kindDefinition {
		body = "hidden: " + shorten(a.Reason, 120)
	}
	if arg, ok := mainArgument(args); ok {
		body = fmt.Sprintf("%s: %s", arg.path, shorten(arg.text, 120))
	}
	title := "Approval needed: " + line(a.Tool)
	go m.notify(title, body)
}
