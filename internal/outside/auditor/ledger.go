package auditor

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// day is how long requests and answers are kept over a restart.
const day = 24 * time.Hour

// ledger counts the requests of the last hour and day, over restarts.
type ledger struct {
	hour, day int // the most; 0: as many as there are

	mu    sync.Mutex
	times []time.Time // guarded by mu; of the last day, oldest first
	to    io.Writer   // guarded by mu; nil: nowhere
}

// take counts one request, unless there were too many.
func (l *ledger) take(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	hour, all := l.within(now)
	if l.hour > 0 && hour >= l.hour || l.day > 0 && all >= l.day {
		return false
	}
	l.times = append(l.times, now)
	if l.to != nil {
		if line, err := strictjson.Marshal(recorded{Time: now.UTC()}); err == nil {
			_, _ = l.to.Write(append(line, '\n')) // it then counts until the next start
		}
	}
	return true
}

func (l *ledger) count(now time.Time) (hour, all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.within(now)
}

// within needs mu.
func (l *ledger) within(now time.Time) (hour, all int) {
	l.times = slices.DeleteFunc(l.times, func(t time.Time) bool { return now.Sub(t) >= day })
	for _, t := range l.times {
		if now.Sub(t) < time.Hour {
			hour++
		}
	}
	return hour, len(l.times)
}

// Answers are what models said on the last day, and when they were asked.
type Answers struct {
	said  []recorded
	times []time.Time
}

// LoadAnswers reads back what was kept of the day before now. A line that cannot be read is left out: it is asked again.
func LoadAnswers(r io.Reader, now time.Time) (*Answers, error) {
	out := &Answers{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var line recorded
		if strictjson.UnmarshalKnown(lines.Bytes(), &line) != nil || now.Sub(line.Time) >= day || line.Time.After(now) {
			continue
		}
		if line.Key == "" {
			out.times = append(out.times, line.Time)
		} else {
			out.said = append(out.said, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read kept answers: %w", err)
	}
	slices.SortFunc(out.times, time.Time.Compare)
	out.said = out.said[max(0, len(out.said)-maxDrawn):]
	return out, nil
}

// Write writes them down again, so that a file of them does not grow for ever.
func (a *Answers) Write(w io.Writer) error {
	lines := slices.Clone(a.said)
	for _, t := range a.times {
		lines = append(lines, recorded{Time: t})
	}
	for _, line := range lines {
		text, err := strictjson.Marshal(line)
		if err == nil {
			_, err = w.Write(append(text, '\n'))
		}
		if err != nil {
			return fmt.Errorf("keep answers: %w", err)
		}
	}
	return nil
}

// take has the client know what was kept. What is kept is checked like an answer when it is wanted.
func (c *Client) take(a *Answers) {
	if a == nil {
		return
	}
	c.spent.times = a.times
	for _, line := range a.said {
		switch {
		case line.Model != c.o.Model:
		case line.Kind == KindContract:
			c.drawn.put(line.Key, line.Answer)
		case c.o.CacheFor > 0:
			c.cache.put(line.Key, answer{line.Answer, line.Time.Add(c.o.CacheFor)})
		}
	}
}

// keep writes an answer down for the next start.
func (c *Client) keep(key string, r *request, text string) {
	c.spent.mu.Lock()
	defer c.spent.mu.Unlock()
	if c.spent.to == nil {
		return
	}
	line, err := strictjson.Marshal(recorded{Key: key, Kind: r.kind, Answer: text, Model: c.o.Model, Time: c.o.Now().UTC()})
	if err == nil {
		_, err = c.spent.to.Write(append(line, '\n'))
	}
	if err != nil {
		c.o.Logger.Error("auditor", "error", fmt.Errorf("keep answer: %w", err))
	}
}
