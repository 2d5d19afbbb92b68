package auditor

import (
	"bufio"
	"cmp"
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

	of string // whose requests, in a file of several; empty: the server's own

	mu    sync.Mutex
	times []time.Time // guarded by mu; of the last day, oldest first
	to    io.Writer   // guarded by mu; nil: nowhere
}

// take counts one request, unless there were too many. One that cannot be written down is not made, where there is a bound: the next
// start would not know of it.
func (l *ledger) take(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	hour, all := l.within(now)
	if l.hour > 0 && hour >= l.hour || l.day > 0 && all >= l.day {
		return false
	}
	if l.to != nil {
		line, err := strictjson.Marshal(recorded{Time: now.UTC(), Model: l.of})
		if err == nil {
			_, err = l.to.Write(append(line, '\n'))
		}
		if err != nil && l.hour+l.day > 0 {
			return false
		}
	}
	l.times = append(l.times, now)
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
	asked []recorded // without an answer: that somebody was asked, and who
	lost  time.Time  // when there was something that could not be read to its end; zero: never
}

// anybody is who was asked in a line that cannot be read.
const anybody = "?"

// LoadAnswers reads back what was kept of the day before now. An answer that cannot be read is asked for again; a line that nobody can
// read, and a request of tomorrow, count as one that everybody has just made. Where the rest of it cannot be read there is an error
// besides, and what may be asked in an hour counts as spent.
func LoadAnswers(r io.Reader, now time.Time) (*Answers, error) {
	out := &Answers{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var line recorded
		switch err := strictjson.UnmarshalKnown(lines.Bytes(), &line); {
		case err != nil:
			out.asked = append(out.asked, recorded{Time: now, Model: anybody})
		case now.Sub(line.Time) >= day, line.Key != "" && line.Time.After(now):
		case line.Key != "":
			out.said = append(out.said, line)
		default:
			if line.Time.After(now) {
				line.Time = now
			}
			out.asked = append(out.asked, line)
		}
	}
	err := lines.Err()
	if err != nil {
		out.lost, err = now, fmt.Errorf("read kept answers: %w", err)
	}
	slices.SortStableFunc(out.asked, func(a, b recorded) int { return a.Time.Compare(b.Time) })
	out.said = out.said[max(0, len(out.said)-maxContracts):]
	return out, err
}

// times are when somebody was asked.
func (a *Answers) times(of string) []time.Time {
	var out []time.Time
	for i := range a.asked {
		if m := a.asked[i].Model; m == of || m == anybody {
			out = append(out, a.asked[i].Time)
		}
	}
	return out
}

// Write writes them down again, so that a file of them does not grow for ever.
func (a *Answers) Write(w io.Writer) error {
	for _, line := range slices.Concat(a.said, a.asked) {
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
	c.spent.times = a.times(c.spent.of)
	for most := cmp.Or(c.spent.hour, c.spent.day); !a.lost.IsZero() && len(c.spent.times) < most; {
		c.spent.times = append(c.spent.times, a.lost)
	}
	for _, line := range a.said {
		switch {
		case line.Model != c.o.Model:
		case line.Kind == KindContract:
			c.contracts.put(line.Key, line.Answer)
		case c.o.CacheFor > 0:
			c.cache.put(line.Key, answer{line.Answer, line.Time.Add(c.o.CacheFor)})
		}
	}
}

// keep writes an answer down for the next start.
func (c *Client) keep(key string, r *request, text string) {
	c.spent.mu.Lock()
	defer c.spent.mu.Unlock()
	if c.spent.to == nil || c.o.SpentAs != "" || r.kind == kindExtract {
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
