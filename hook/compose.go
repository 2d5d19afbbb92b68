package hook

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/text"
)

// maxReason is how many characters of a handler's reason are kept.
const maxReason = 500

// rules say how the results on one hook compose.
type rules[E, R any] struct {
	hook    Name
	lend    func(E) *E              // the event as a handler gets it
	refuses func(*R) (string, bool) // whether a result says no, and in which words
	// merge applies a result to the event and to the composed result. It returns the
	// names a handler tried to add; on an error it has applied nothing.
	merge func(event *E, out, got *R) (added []string, err error)
}

// refusal ends a dispatch.
type refusal struct {
	by     string
	reason string
	err    error // set if the plugin could not answer, nil if it said no
}

// compose runs a chain. Each handler sees the event as the earlier ones left it. The
// first refusal ends it: later handlers are not asked about what will not happen. A
// refusal counts even where an error came with it.
//
// With no link it returns at once; the pointers end here, so that the event of a hook
// nobody handles can stay on the caller's stack.
func compose[E, R any](ctx context.Context, b *Bus, links chain[E, R], event *E, c *Context, r rules[E, R]) (R, *refusal) {
	if len(links) == 0 {
		var none R
		return none, nil
	}
	return composeAll(ctx, b, links, *event, contextOf(c), r)
}

func composeAll[E, R any](ctx context.Context, b *Bus, links chain[E, R], event E, c Context, r rules[E, R]) (R, *refusal) {
	var out R
	for _, l := range links {
		got, err := call(ctx, l, r.lend(event), c.clone())
		reason, refused := "", false
		if got != nil {
			reason, refused = r.refuses(got)
		}
		if got != nil && err == nil && !refused {
			var added []string
			if added, err = r.merge(&event, &out, got); len(added) > 0 {
				b.report(ctx, r.hook, l.plugin, fmt.Errorf("%w: it adds %s", ErrWidens, quoted(added)))
			}
		}
		if err != nil {
			b.report(ctx, r.hook, l.plugin, err)
		}
		switch {
		case refused:
			return out, &refusal{by: l.name, reason: reasonOf(l.name, reason)}
		case err != nil && l.failClosed:
			return out, unanswered(r.hook, l.name, err)
		}
	}
	return out, nil
}

// unanswered is the refusal in place of an answer that did not come. Its reason leaves
// out the plugin's own words: it is shown to the model.
func unanswered(hook Name, plugin string, err error) *refusal {
	return &refusal{
		by:     plugin,
		reason: fmt.Sprintf("plugin %q could not answer %s: %s", plugin, hook, shortly(err)),
		err:    fmt.Errorf("ask plugin %q on %s: %w", plugin, hook, err),
	}
}

// observe tells every link, whatever became of the earlier ones. The error holds what
// went wrong in plugins that fail closed: a hook that only tells cannot block.
func observe[E any](ctx context.Context, b *Bus, hook Name, links chain[E, nothing], event E, c Context) error {
	var faults []error
	for _, l := range links {
		_, err := call(ctx, l, lend(event), c.clone())
		if err == nil {
			continue
		}
		b.report(ctx, hook, l.plugin, err)
		if l.failClosed {
			faults = append(faults, fmt.Errorf("tell plugin %q on %s: %w", l.name, hook, err))
		}
	}
	return errors.Join(faults...)
}

func contextOf(c *Context) Context {
	if c == nil {
		return Context{}
	}
	return *c
}

func shortly(err error) string {
	for _, kind := range []error{ErrTimeLimit, ErrPanic, ErrStuck, ErrResult} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return "it returned an error"
}

func reasonOf(plugin, reason string) string {
	if reason == "" {
		return fmt.Sprintf("blocked by plugin %q", plugin)
	}
	return text.Fit(strings.ToValidUTF8(reason, "\uFFFD"), maxReason)
}

// quoted lists a few names for a log line, whatever a handler put into them.
func quoted(names []string) string {
	const most = 5
	var b strings.Builder
	for i, n := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", text.Fit(n, 64))
	}
	return b.String()
}
