package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/trust"
)

// bareQuestion and bareAnswer are what crosses the wire, as plain structs.
type bareQuestion struct {
	Event struct {
		ToolName   string           `json:"toolName"`
		ToolCallID string           `json:"toolCallId"`
		Params     strictjson.Value `json:"params"`
	} `json:"event"`
	Ctx struct {
		SessionKey string `json:"sessionKey"`
		RunID      string `json:"runId"`
		AgentID    string `json:"agentId"`
	} `json:"ctx"`
}

type bareAnswer struct {
	Tidemark struct {
		Taint   string           `json:"taint"`
		Label   trust.Label      `json:"label"`
		Verdict string           `json:"verdict"`
		Rule    string           `json:"rule"`
		Reasons strictjson.Value `json:"reasons"`
		Tool    string           `json:"tool"`
		Step    uint64           `json:"step"`
	} `json:"tidemark"`
}

// newBareHandler makes a handler that decodes the question and encodes that answer. It
// refuses to be made from an answer it would not give byte for byte. commit is done before it answers; nil: nothing is.
func newBareHandler(want []byte, commit func(session int) error) (http.Handler, error) {
	var answer bareAnswer
	if err := strictjson.Unmarshal(want, &answer); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	got, err := strictjson.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	if !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace(want)) {
		return nil, fmt.Errorf("the bare answer differs: got %s, want %s", got, want)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q bareQuestion
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = strictjson.Unmarshal(body, &q)
		}
		if err == nil && commit != nil {
			var session int
			if _, err = fmt.Sscanf(q.Ctx.SessionKey, "session-%d", &session); err == nil {
				err = commit(session)
			}
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = strictjson.Write(w, answer) // a client that is gone cannot be told
	}), nil
}
