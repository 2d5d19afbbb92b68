package torture_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/tidemark/tidemark/trust"
)

// errand is a call that is held, answered, let through and asked about again, step by step. sent counts how often a step was tried:
// one that is tried again may have been done before.
type errand struct {
	*life
	tool     string
	params   fields
	question string
	sent     map[string]int
}

func (l *life) errand(tool string, params fields) *errand {
	return &errand{life: l, tool: tool, params: params, sent: map[string]int{}}
}

// unsure reports whether a step was tried before, and nobody knows what came of it.
func (e *errand) unsure(step string) bool { return e.sent[step] > 1 }

// over ends what was begun.
func (e *errand) over() { e.flow = e.flow[:1] }

// ask makes the call, which must be held.
func (e *errand) ask(ctx context.Context, s *server) (bool, error) {
	a, err := e.asks(ctx, s, e.tool, e.params)
	if err != nil {
		return false, err
	}
	if !a.Block {
		e.violated("%s %v went through unasked", e.tool, e.params)
		e.over()
		return false, nil
	}
	if e.question = a.asked(); e.question == "" {
		e.over() // it is refused, and nobody is asked
	}
	return false, nil
}

// answers sends a person's answer.
func (e *errand) answers(decision string, minutes int, out any) func(context.Context, *server) (bool, error) {
	return func(ctx context.Context, s *server) (bool, error) {
		e.sent["answer"]++
		err := s.call(ctx, http.MethodPost, "/v1/approvals/"+e.question, fields{"decision": decision, "minutes": minutes}, out)
		if refusedBy(err) {
			if !e.unsure("answer") {
				e.violated("the question %s is gone: %v", e.question, err)
			}
			return false, nil
		}
		if err == nil {
			e.records++
		}
		return false, err
	}
}

// through makes the call, which must be let through now.
func (e *errand) through(ctx context.Context, s *server) (bool, error) {
	e.sent["through"]++
	a, err := e.asks(ctx, s, e.tool, e.params)
	if err == nil && a.Block && !e.unsure("through") {
		e.violated("%s %v was approved (%s) and is held: what was acknowledged is lost", e.tool, e.params, e.question)
	}
	return false, err
}

// stopped makes the call, which must not be let through any more.
func (e *errand) stopped(ctx context.Context, s *server) (bool, error) {
	a, err := e.asks(ctx, s, e.tool, e.params)
	if err == nil && !a.Block {
		e.violated("%s %v went through once more (%s)", e.tool, e.params, a.Tidemark.Spent)
	}
	if err == nil {
		e.done[e.tool]++
	}
	return false, err
}

// deploy is a call that a person answers: approved, it runs once; denied, never.
func (l *life) deploy() flow {
	e := l.errand("exec", fields{"command": fmt.Sprint("rollout ", l.dice.IntN(1<<30))})
	if l.dice.IntN(4) == 0 {
		return flow{l.page, e.ask, e.answers("deny", 0, nil), e.stopped}
	}
	return flow{l.page, e.ask, e.answers("approve", 0, nil), e.through, e.stopped}
}

// grant is leave for a while that is taken back.
func (l *life) grant() flow {
	e := l.errand("exec", fields{"command": fmt.Sprint("restart ", l.dice.IntN(1<<30))})
	var made struct {
		Grant string `json:"grant"`
	}
	answered := e.answers("approve", 30, &made)
	return flow{l.page, e.ask, func(ctx context.Context, s *server) (bool, error) {
		again, err := answered(ctx, s)
		if err == nil && made.Grant == "" {
			e.over() // made, and the answer lost: nobody knows its id
		} else if err == nil {
			l.grants[made.Grant] = true
		}
		return again, err
	}, e.through, e.through, func(ctx context.Context, s *server) (bool, error) {
		delete(l.grants, made.Grant)
		err := s.call(ctx, http.MethodDelete, "/v1/grants/"+made.Grant+"?session="+url.QueryEscape(l.name), nil, nil)
		if refusedBy(err) { // it was revoked before, and the answer lost
			err = nil
		}
		if err == nil {
			l.grants[made.Grant] = false
		}
		return false, err
	}, e.stopped}
}

// remember is a write to a memory file that is kept, and released or discarded.
func (l *life) remember() flow {
	e := l.errand("write", fields{"path": "MEMORY.md", "content": fmt.Sprint("remember ", l.dice.IntN(1<<30))})
	release := l.dice.IntN(3) > 0
	var id string
	keep := func(ctx context.Context, s *server) (bool, error) {
		a, err := e.asks(ctx, s, e.tool, e.params)
		if err != nil {
			return false, err
		}
		if !a.Block {
			l.violated("a write to a memory file went through unasked")
		}
		if id = a.Tidemark.Write; id == "" {
			e.over()
			return false, nil
		}
		l.writes[id] = "held"
		return false, nil
	}
	review := func(ctx context.Context, s *server) (bool, error) {
		e.sent["review"]++
		action, status := "discard", "discarded"
		if release {
			action, status = "release", "released"
		}
		delete(l.writes, id)
		err := s.call(ctx, http.MethodPost, "/v1/writes/"+id, fields{"action": action, "session": l.name}, nil)
		if refusedBy(err) {
			if !e.unsure("review") {
				l.violated("the write %s is gone: %v", id, err)
			}
			return false, nil
		}
		if err == nil && status == "discarded" {
			l.writes[id] = status
		}
		return false, err
	}
	if release {
		return flow{l.page, keep, review, e.through, e.stopped}
	}
	return flow{l.page, keep, review, e.stopped}
}

// leave writes a file while the context is tainted: whoever reads it later is told so, until a person vouches for it.
func (l *life) leave() flow {
	path := fmt.Sprintf("work/%s-%d.txt", l.name, l.dice.IntN(1<<30))
	key := "file:" + path
	e := l.errand("write", fields{"path": path, "content": "what the page says"})
	write := func(ctx context.Context, s *server) (bool, error) {
		a, err := e.asks(ctx, s, e.tool, e.params)
		if err == nil && !a.Block {
			l.labels[key] = true
			l.done["label"]++
		} else if e.question = a.asked(); err == nil && e.question == "" {
			e.over()
		}
		return false, err
	}
	steps := flow{l.page, write}
	answered := e.answers("approve", 0, nil)
	steps = append(steps, func(ctx context.Context, s *server) (bool, error) {
		if l.labels[key] {
			return false, nil
		}
		return answered(ctx, s)
	}, func(ctx context.Context, s *server) (bool, error) {
		if l.labels[key] {
			return false, nil
		}
		return write(ctx, s)
	})
	if l.dice.IntN(2) == 0 {
		return steps
	}
	return append(steps, func(ctx context.Context, s *server) (bool, error) {
		if known := l.labels[key]; !known {
			return false, nil
		}
		return false, l.vouch(ctx, s, key)
	})
}

func (l *life) vouch(ctx context.Context, s *server, key string) error {
	delete(l.labels, key)
	err := s.call(ctx, http.MethodDelete, "/v1/labels?key="+url.QueryEscape(key), nil, nil)
	if refusedBy(err) { // the answer of an earlier try would have ended this
		l.violated("the label %s was acknowledged and cannot be cleared: %v", key, err)
		return nil
	}
	if err == nil {
		l.labels[key] = false
	}
	return err
}

// spawn is a sub-agent: it begins with what its parent holds, and brings back what it read.
func (l *life) spawn() flow {
	child := fmt.Sprintf("%s-child-%d", l.name, l.dice.IntN(1<<30))
	as := fields{"spawnedBy": l.name, "senderIsOwner": false, "senderId": ""}
	return flow{
		l.speak,
		func(ctx context.Context, s *server) (bool, error) {
			a, err := s.hook(ctx, child, "message_received", fields{"content": "find out"}, as)
			if err != nil {
				return false, err
			}
			if level, err := trust.ParseLevel(a.Tidemark.Taint); err != nil || level > l.level {
				l.violated("its sub-agent begins at %s", a.Tidemark.Taint)
			}
			return false, nil
		},
		func(ctx context.Context, s *server) (bool, error) {
			page := fields{"toolName": "web_fetch", "params": fields{"url": "https://x.example/"}, "result": "a page", "toolCallId": l.id()}
			_, err := s.hook(ctx, child, "after_tool_call", page, as)
			return false, err
		},
		func(ctx context.Context, s *server) (bool, error) {
			if err := l.reads(ctx, s, "sessions_history", fields{}, "what it found"); err != nil {
				return false, err
			}
			if l.level > trust.Untrusted {
				l.violated("its sub-agent read a page and brought back %s", l.level)
			}
			l.done["sub-agent"]++
			return false, nil
		},
	}
}

// person is somebody who is given a token of their own and loses it again.
func (l *life) person() flow {
	name := fmt.Sprintf("p%d", l.dice.IntN(1<<30))
	return flow{
		func(ctx context.Context, s *server) (bool, error) {
			err := s.call(ctx, http.MethodPost, "/v1/people", fields{"name": name, "role": "reader"}, nil)
			if refusedBy(err) { // they have one, and the answer was lost
				err = nil
			}
			if err == nil {
				l.people[name] = true
			}
			return false, err
		},
		l.look,
		func(ctx context.Context, s *server) (bool, error) {
			delete(l.people, name)
			err := s.call(ctx, http.MethodDelete, "/v1/people/"+name, nil, nil)
			if refusedBy(err) {
				err = nil
			}
			if err == nil {
				l.people[name] = false
			}
			return false, err
		},
	}
}
