package sdkcompat_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// job is one conversation to have with an official client.
type job struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"` // chat, responses, messages, gemini
	Base       string   `json:"base"` // what the client is pointed at
	Key        string   `json:"key"`
	Stream     bool     `json:"stream"`
	Prompts    []string `json:"prompts"` // what the user says, one after the other
	Tools      []string `json:"tools"`
	DeadlineMs int      `json:"deadlineMs"` // the client's own
}

// round is one answer as the client gave it to the program.
type round struct {
	Text  string `json:"text"`  // from the deltas, where it was streamed
	Final string `json:"final"` // from what the client put together in the end
	Calls []call `json:"calls"` // also those of an answer that broke off
	Stop  string `json:"stop"`
	Whole bool   `json:"whole"` // the client said that the answer is complete
}

type call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// fault is the error a client raised, in its own terms.
type fault struct {
	Kind       string `json:"kind"` // its type
	Status     int    `json:"status"`
	RetryAfter string `json:"retryAfter"`
	Limit      string `json:"limit"`
	Message    string `json:"message"`
}

// result is what came of a job.
type result struct {
	ID      string  `json:"id"`
	Rounds  []round `json:"rounds"`
	Error   *fault  `json:"error"`
	Expired bool    `json:"expired"` // the client's deadline ended it
	MS      int     `json:"ms"`
	Stray   int     `json:"stray"` // errors nobody could catch
}

// handed are the calls the program got. One without a name names no tool and can run none.
func (r result) handed() []call {
	var out []call
	for _, round := range r.Rounds {
		for _, c := range round.Calls {
			if c.Name != "" {
				out = append(out, c)
			}
		}
	}
	return out
}

// judge is one official client.
type judge struct {
	name string
	kind string
	run  func(job) result
}

// inProcess are the clients that run in the test itself.
func inProcess() []judge {
	return []judge{
		{"go-chat", "chat", func(j job) result { return converse(j, newChat) }},
		{"go-responses", "responses", func(j job) result { return converse(j, newResponses) }},
		{"go-messages", "messages", func(j job) result { return converse(j, newMessages) }},
	}
}

// talk is one conversation in one protocol.
type talk interface {
	say(text string)
	results(calls []call)
	ask(ctx context.Context, r *round) error
}

// mostRounds bounds a conversation: one that is longer is a fault.
const mostRounds = 8

// converse has the conversation: what the user says, then rounds until no tool is called.
func converse(j job, begin func(job, *http.Client) talk) result {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(j.DeadlineMs)*time.Millisecond)
	defer cancel()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	t := begin(j, &http.Client{Transport: transport})
	out, began := result{ID: j.ID}, time.Now()
	err := eachRound(j, t, func(r round) error {
		err := t.ask(ctx, &r)
		r.Whole = err == nil
		out.Rounds = append(out.Rounds, r)
		return err
	}, func() []call { return out.Rounds[len(out.Rounds)-1].Calls })
	out.Error, out.Expired = describe(err), ctx.Err() != nil
	out.MS = int(time.Since(began).Milliseconds())
	return out
}

func eachRound(j job, t talk, ask func(round) error, called func() []call) error {
	rounds := 0
	for _, prompt := range j.Prompts {
		t.say(prompt)
		for {
			if rounds++; rounds > mostRounds {
				return errors.New("the conversation does not end")
			}
			if err := ask(round{}); err != nil {
				return err
			}
			calls := called()
			if len(calls) == 0 {
				break
			}
			t.results(calls)
		}
	}
	return nil
}

// describe says of an error what a program could read off it.
func describe(err error) *fault {
	if err == nil {
		return nil
	}
	f := &fault{Kind: fmt.Sprintf("%T", err), Message: err.Error()}
	if a, ok := asAPIError(err); ok {
		f.Kind, f.Status = a.kind, a.status
		if a.header != nil {
			f.RetryAfter, f.Limit = a.header.Get("Retry-After"), a.header.Get("X-Ratelimit-Limit-Requests")
		}
	}
	return f
}
