package keeper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Monitor redeems tickets with the monitor's server.
type Monitor struct {
	// Find says where the server is and with which token it is asked.
	Find func() (url, token string, err error)
	// Way leads to a server on another machine; nil, or nil: it is on this one.
	Way func(url, token string) *http.Client

	mu     sync.Mutex
	url    string // guarded by mu, as the rest: the server that client leads to
	token  string
	client *http.Client
}

// maxAnswer bounds what a server may say, and askTime how long it may take: it writes down what it answers.
const (
	maxAnswer = 4 << 20
	askTime   = 30 * time.Second
)

// Redeem asks for the leave to run a command. A ticket is good once.
func (m *Monitor) Redeem(ctx context.Context, t Ticket) (Grant, error) {
	raw, err := m.post(ctx, "/v1/box/redeem", t)
	if err != nil {
		return Grant{}, err
	}
	var said struct {
		Session   string           `json:"session"`
		Call      string           `json:"call"`
		Step      uint64           `json:"step"`
		Workspace string           `json:"workspace"`
		Taint     string           `json:"taint"`
		Leaves    bool             `json:"leaves"`
		Covered   bool             `json:"covered"`
		Ordered   []string         `json:"ordered"`
		Lists     []string         `json:"lists"`
		Temp      []string         `json:"temp"`
		Settings  strictjson.Value `json:"settings"`
	}
	if err := strictjson.Unmarshal(raw, &said); err != nil {
		return Grant{}, fmt.Errorf("read the server's answer: %w", err)
	}
	g := Grant{
		Session: said.Session, Call: said.Call, Step: said.Step, Workspace: said.Workspace, Taint: said.Taint,
		Leaves: said.Leaves, Covered: said.Covered, Ordered: said.Ordered, Temp: said.Temp, Lists: said.Lists,
	}
	// a setting that is not known here could be one that closes something
	if err := strictjson.UnmarshalKnown(said.Settings, &g.Settings); err != nil {
		return Grant{}, fmt.Errorf("read the server's answer: settings: %w", err)
	}
	return g, nil
}

// Written asks what the session's own file tools were let to write.
func (m *Monitor) Written(ctx context.Context, ticket string) ([]Written, error) {
	raw, err := m.post(ctx, "/v1/box/written", struct {
		Ticket string `json:"ticket"`
	}{ticket})
	if err != nil {
		return nil, err
	}
	var said struct {
		Files []Written `json:"files"`
	}
	if err := strictjson.Unmarshal(raw, &said); err != nil {
		return nil, fmt.Errorf("read the server's answer: %w", err)
	}
	return said.Files, nil
}

// Ended tells the server how a command ended.
func (m *Monitor) Ended(ctx context.Context, e Ended) error {
	_, err := m.post(ctx, "/v1/box/ended", e)
	return err
}

func (m *Monitor) post(ctx context.Context, path string, in any) ([]byte, error) {
	url, token, client, err := m.reach()
	if err != nil {
		return nil, err
	}
	body, err := strictjson.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("reach the server: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the server's answer: %w", err)
	}
	switch {
	case len(raw) > maxAnswer:
		return nil, errors.New("read the server's answer: it is too large")
	case res.StatusCode == http.StatusConflict:
		return nil, &Refusal{Reason: reasonIn(raw)}
	case res.StatusCode/100 != 2:
		return nil, fmt.Errorf("the server answered %d %s: %s", res.StatusCode, http.StatusText(res.StatusCode), reasonIn(raw))
	}
	return raw, nil
}

// reach is the server as it is found now. The connection to one that was reached before is kept: each is proven once to lead to it.
func (m *Monitor) reach() (url, token string, client *http.Client, err error) {
	if url, token, err = m.Find(); err != nil {
		return "", "", nil, fmt.Errorf("find the server: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client == nil || m.url != url || m.token != token {
		if m.client != nil {
			m.client.CloseIdleConnections()
		}
		m.url, m.token = url, token
		m.client = m.way(url, token)
	}
	return url, token, m.client, nil
}

// way is a client whose every connection is proven to lead to the server.
func (m *Monitor) way(url, token string) *http.Client {
	if m.Way != nil {
		if client := m.Way(url, token); client != nil {
			return client
		}
	}
	return &http.Client{
		Timeout: askTime, Transport: &http.Transport{DialContext: serverproof.Dialer(token, url), MaxIdleConnsPerHost: 8},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// reasonIn is what a server says in an answer that is no yes.
func reasonIn(raw []byte) string {
	var said struct {
		Detail string `json:"detail"`
		Reason string `json:"reason"`
		Title  string `json:"title"`
	}
	_ = strictjson.Unmarshal(raw, &said) // then there is none
	for _, s := range []string{said.Reason, said.Detail, said.Title} {
		if s != "" {
			return s
		}
	}
	return "no reason was given"
}
