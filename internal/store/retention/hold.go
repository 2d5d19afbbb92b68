package retention

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// Hold is what must not be pruned: a session, or all in which a person took part.
type Hold struct {
	Session string    `json:"session,omitzero"`
	Person  string    `json:"person,omitzero"`
	By      string    `json:"by"`
	Why     string    `json:"why,omitzero"`
	Since   time.Time `json:"since"`
}

// String is what is held, for people.
func (h Hold) String() string {
	if h.Person != "" {
		return "person " + h.Person
	}
	return "session " + h.Session
}

func (h Hold) same(o Hold) bool { return h.Session == o.Session && h.Person == o.Person }

// ErrHold is returned for a hold that is there already, or that is not there.
var ErrHold = errors.New("hold")

// Holds are what must not be pruned now, the oldest first, and how many records their log has.
func Holds(ctx context.Context, log interface {
	Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error]
},
) (holds []Hold, version uint64, err error) {
	for rec, err := range log.Load(ctx, store.RetentionLog, 0) {
		if err != nil {
			return nil, 0, fmt.Errorf("read holds: %w", err)
		}
		version = rec.Seq
		if rec.Kind != string(event.HoldChanged) {
			continue
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return nil, 0, fmt.Errorf("read holds: %w", err)
		}
		h := Hold{Session: e.Hold.Session, Person: e.Hold.Person, By: e.Hold.By, Why: e.Hold.Why, Since: time.Unix(0, e.Time).UTC()}
		holds = slices.DeleteFunc(holds, h.same)
		if !e.Hold.Ended {
			holds = append(holds, h)
		}
	}
	return holds, version, nil
}

// SetHold begins a hold, or ends it.
func SetHold(ctx context.Context, log Log, h event.Hold, now time.Time) error {
	if (h.Session == "") == (h.Person == "") {
		return fmt.Errorf("%w: name a session or a person", ErrHold)
	}
	if h.By == "" {
		return fmt.Errorf("%w: nobody says who they are", ErrHold)
	}
	const attempts = 4 // somebody may prune meanwhile
	for range attempts {
		holds, at, err := Holds(ctx, log)
		if err != nil {
			return err
		}
		there := slices.ContainsFunc(holds, Hold{Session: h.Session, Person: h.Person}.same)
		switch {
		case there && !h.Ended:
			return fmt.Errorf("%w: it is held already", ErrHold)
		case !there && h.Ended:
			return fmt.Errorf("%w: it is not held", ErrHold)
		}
		e := &event.Event{Kind: event.HoldChanged, Time: now.UnixNano(), Hold: &h}
		if err = log.Append(ctx, store.RetentionLog, at, []*event.Event{e}); !errors.Is(err, engine.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("%w: the log is being pruned, try again", ErrHold)
}

// heldBy is the hold that keeps a session as it is.
func (i *info) heldBy(session string, holds []Hold) (Hold, bool) {
	for _, h := range holds {
		if h.Session == session || slices.ContainsFunc(i.people, func(p person) bool { return p.is(h.Person) }) {
			return h, true
		}
	}
	return Hold{}, false
}

// person is somebody who took part in a session.
type person struct {
	provider, id string
	spoke        bool // and not only answered a question
}

// is reports whether somebody is meant by a name: an id, or provider:id.
func (p person) is(name string) bool {
	return name != "" && (p.id == name || p.provider+":"+p.id == name)
}

// peopleOf are who took part by an event.
func peopleOf(e *event.Event) []person {
	switch {
	case e.Began != nil && e.Began.Sender.ID != "":
		return []person{{e.Began.Sender.Provider, e.Began.Sender.ID, true}}
	case e.Pair != nil && e.Pair.Person != "":
		provider, id, _ := strings.Cut(e.Pair.Person, ":")
		return []person{{provider, id, true}}
	case e.Answer != nil && e.Answer.By != "":
		return []person{{e.Answer.Via, e.Answer.By, false}}
	}
	return nil
}
