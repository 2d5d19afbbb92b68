package judge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/tool"
)

// The paths of the port on the server.
const (
	PortPath    = "/v1/mcp/"
	decidePath  = PortPath + "decide"
	observePath = PortPath + "observe"
	offerPath   = PortPath + "offer"
	answerPath  = PortPath + "answer"
	giveUpPath  = PortPath + "giveup"
)

// The bodies of the port. Arguments and content are bytes, so that they arrive as they are.
type (
	askBody struct {
		Place   Place  `json:"place"`
		ID      string `json:"id"`
		Tool    string `json:"tool"`
		Args    []byte `json:"args"`
		WaitMs  int64  `json:"waitMs,omitzero"`
		Client  string `json:"client,omitzero"`
		Elicits bool   `json:"elicits,omitzero"`
		Gated   bool   `json:"gated,omitzero"`
		Looks   bool   `json:"looks,omitzero"`
	}
	lookUpBody struct {
		ID   string `json:"id"`
		Tool string `json:"tool"`
		Args []byte `json:"args"`
	}
	rulingBody struct {
		Allowed  bool   `json:"allowed"`
		Place    Place  `json:"place"`
		Refusal  string `json:"refusal,omitzero"`
		Held     *Held  `json:"held,omitzero"`
		Approved bool   `json:"approved,omitzero"`

		LookUps []lookUpBody    `json:"lookUps,omitzero"`
		Args    []byte          `json:"args,omitzero"`
		Answer  *handles.Answer `json:"answer,omitzero"`
	}
	offeredBody struct {
		Held []string `json:"held,omitzero"`
	}
	cameBody struct {
		Place   Place  `json:"place"`
		ID      string `json:"id,omitzero"`
		Tool    string `json:"tool"`
		Args    []byte `json:"args,omitzero"`
		Content []byte `json:"content"`
		Error   bool   `json:"error,omitzero"`
		Argues  string `json:"argues,omitzero"`
		Holds   bool   `json:"holds,omitzero"`

		Labels tool.Labels `json:"labels,omitzero"`
	}
	offerBody struct {
		Place  Place         `json:"place"`
		Server string        `json:"server"`
		Tools  []offeredTool `json:"tools"`
	}
	offeredTool struct {
		Name        string `json:"name"`
		Description string `json:"description,omitzero"`
		Schema      []byte `json:"schema,omitzero"`
		ReadOnly    *bool  `json:"readOnly,omitzero"`
		Destructive *bool  `json:"destructive,omitzero"`
		OpenWorld   *bool  `json:"openWorld,omitzero"`
	}
	giveUpBody struct {
		Place   Place  `json:"place"`
		Tool    string `json:"tool"`
		Args    []byte `json:"args"`
		Client  string `json:"client,omitzero"`
		AfterMs int64  `json:"afterMs,omitzero"`
	}
	saidBody struct {
		Question string `json:"question"`
		Session  string `json:"session"`
		Approve  bool   `json:"approve,omitzero"`
		ForMs    int64  `json:"forMs,omitzero"`
	}
)

// Unreachable is why the server could not be asked, in words for people.
type Unreachable struct{ why string }

func (u *Unreachable) Error() string { return u.why }

// Line is a way to the running server: where it is, what to show it, and a client whose every
// connection is proven to lead there.
type Line struct {
	Base  string
	Token string
	HTTP  *http.Client
}

// Remote is the Port to a monitor in another process. Find looks for the server; it is asked again
// where the server is gone, because it may have started anew elsewhere.
type Remote struct {
	Find func() (*Line, error)

	line chan *Line // holds the one that is in use, or nil
}

var _ Port = (*Remote)(nil)

// NewRemote makes a Remote. Nothing is contacted yet.
func NewRemote(find func() (*Line, error)) *Remote {
	r := &Remote{Find: find, line: make(chan *Line, 1)}
	r.line <- nil
	return r
}

// Post asks the server something that is not of the Port, such as about pins.
func (r *Remote) Post(ctx context.Context, path string, in, out any) error {
	return r.post(ctx, path, in, out)
}

// Decide implements Port. Only an answer that says so in every part lets a call leave.
func (r *Remote) Decide(ctx context.Context, a Ask) (Ruling, error) {
	var got rulingBody
	err := r.post(ctx, decidePath, askBody{
		Place: a.Place, ID: a.Call.ID, Tool: a.Call.Name, Args: a.Call.Args, WaitMs: a.Patience.Milliseconds(), Elicits: a.Elicits,
		Gated: a.Gated, Client: a.Client, Looks: a.Looks,
	}, &got)
	switch {
	case err == nil && a.Looks && len(got.LookUps) > 0 && !got.Allowed:
		out := Ruling{Place: got.Place}
		for _, l := range got.LookUps {
			out.LookUps = append(out.LookUps, tool.Call{ID: l.ID, Name: l.Tool, Args: l.Args})
		}
		return out, nil
	case err != nil:
		return Ruling{}, err
	case got.Allowed && (got.Refusal != "" || got.Held != nil || got.Answer != nil || got.Place.Session == ""):
		return Ruling{}, errors.New("the server's answer is neither yes nor no")
	case got.Answer != nil:
		return Ruling{Place: got.Place, Answer: got.Answer}, nil
	case !got.Allowed && got.Refusal == "":
		return Ruling{}, errors.New("the server refused without a word")
	}
	return Ruling{
		released: got.Allowed, Place: got.Place, Refusal: got.Refusal, Held: got.Held, Approved: got.Approved, Args: got.Args,
	}, nil
}

// Observe implements Port.
func (r *Remote) Observe(ctx context.Context, c Came) (Passed, error) {
	var got Passed
	err := r.post(ctx, observePath, cameBody{
		Place: c.Place, ID: c.Result.CallID, Tool: c.Result.Name, Args: c.Result.Args, Content: c.Result.Content, Error: c.Result.Error,
		Argues: c.Argues, Labels: c.Result.Labels, Holds: c.Holds,
	}, &got)
	return got, err
}

// Offer implements Port.
func (r *Remote) Offer(ctx context.Context, p Place, server string, defs []tool.Definition) ([]string, error) {
	body := offerBody{Place: p, Server: server}
	for _, d := range defs {
		body.Tools = append(body.Tools, offeredTool{d.Name, d.Description, d.Schema, d.ReadOnly, d.Destructive, d.OpenWorld})
	}
	var got offeredBody
	err := r.post(ctx, offerPath, body, &got)
	return got.Held, err
}

// Answer implements Port.
func (r *Remote) Answer(ctx context.Context, a Said) error {
	return r.post(ctx, answerPath, saidBody{a.Question, a.Session, a.Approve, a.For.Milliseconds()}, nil)
}

// GiveUp implements Port.
func (r *Remote) GiveUp(ctx context.Context, g GivenUp) error {
	return r.post(ctx, giveUpPath, giveUpBody{g.Place, g.Call.Name, g.Call.Args, g.Client, g.After.Milliseconds()}, nil)
}

// maxAnswer bounds what a server may say.
const maxAnswer = 1 << 20

// post asks the server, twice where the first line was an old one.
func (r *Remote) post(ctx context.Context, path string, in, out any) error {
	raw, err := strictjson.Marshal(in)
	if err != nil {
		return err
	}
	line, fresh, err := r.find(nil)
	if err != nil {
		return err
	}
	status, answer, err := line.send(ctx, path, raw)
	if err != nil && !fresh && ctx.Err() == nil {
		if line, _, err = r.find(line); err == nil {
			status, answer, err = line.send(ctx, path, raw)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*Unreachable)):
		return err
	case err != nil:
		return &Unreachable{"the server cannot be reached, so nothing may run (start it: tidemark serve): " + err.Error()}
	case status != http.StatusOK:
		return problemOf(status, answer)
	case out == nil:
		return nil
	}
	if err := strictjson.UnmarshalKnown(answer, out); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// find is the line in use, or a new one in place of one that no longer leads anywhere.
func (r *Remote) find(old *Line) (line *Line, fresh bool, err error) {
	line = <-r.line
	defer func() { r.line <- line }()
	if line != nil && line != old {
		return line, false, nil
	}
	found, err := r.Find()
	if err != nil {
		line = nil
		return nil, false, &Unreachable{err.Error()}
	}
	line = found
	return line, true, nil
}

func (l *Line) send(ctx context.Context, path string, body []byte) (int, []byte, error) {
	//nolint:gosec // the address of our own server
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.Base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+l.Token)
	req.Header.Set("Content-Type", "application/json")
	res, err := l.HTTP.Do(req) //nolint:gosec // likewise
	if err != nil {
		return 0, nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return 0, nil, err
	}
	if len(raw) > maxAnswer {
		return 0, nil, errors.New("its answer is too large")
	}
	return res.StatusCode, raw, nil
}

func problemOf(status int, raw []byte) error {
	var p struct {
		Detail string `json:"detail"`
	}
	if strictjson.Unmarshal(raw, &p) != nil || p.Detail == "" {
		p.Detail = http.StatusText(status)
	}
	return &Unreachable{fmt.Sprintf("the server could not decide (%d): %s", status, p.Detail)}
}

// wait is milliseconds as a span within bounds.
func wait(ms int64) time.Duration {
	return time.Duration(min(max(ms, 0), time.Hour.Milliseconds())) * time.Millisecond
}
