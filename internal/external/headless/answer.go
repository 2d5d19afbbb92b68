package headless

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/external/auditor"
)

// errNoForm is in errors about a program that ended without an answer of its form.
var errNoForm = fmt.Errorf("%w: it printed none", auditor.ErrNoAnswer)

// answers read what programs print.
var answers = map[string]func(out []byte) (auditor.Reply, error){
	"claude": claudeAnswer, "codex": codexAnswer, "gemini": geminiAnswer, "opencode": opencodeAnswer,
}

// inputs write what programs read.
var inputs = map[string]func(words string) (string, error){
	"": func(words string) (string, error) { return words, nil }, "line": claudeLine,
}

// claudeLine is a message as one line: a program that is given a text as it is does not wait for it.
func claudeLine(words string) (string, error) {
	line, err := strictjson.Marshal(map[string]any{
		"type": "user", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": words}}},
	})
	return string(line) + "\n", err
}

// claudeAnswer takes the one line that is the result.
func claudeAnswer(out []byte) (auditor.Reply, error) {
	type result struct {
		Type    string           `json:"type"`
		Failed  bool             `json:"is_error"`
		Subtype string           `json:"subtype"`
		Form    strictjson.Value `json:"structured_output"`
		Result  string           `json:"result"`
		Usage   struct {
			In     int `json:"input_tokens"`
			Cached int `json:"cache_read_input_tokens"`
			Out    int `json:"output_tokens"`
		} `json:"usage"`
	}
	var in *result
	for line := range bytes.Lines(out) {
		var one result
		switch err := strictjson.Unmarshal(bytes.TrimSpace(line), &one); {
		case err != nil, one.Type == "result" && in != nil:
			return auditor.Reply{}, errNoForm
		case one.Type == "result":
			in = &one
		}
	}
	if in == nil {
		return auditor.Reply{}, errNoForm
	}
	if in.Failed || in.Subtype != "success" {
		return auditor.Reply{}, errors.New("it says that it failed")
	}
	text := in.Result
	if len(in.Form) > 0 && in.Form.Kind() == '{' {
		text = string(in.Form)
	}
	return auditor.Reply{Text: text, In: in.Usage.In + in.Usage.Cached, Out: in.Usage.Out}, nil
}

// codexAnswer takes the one message of the one turn.
func codexAnswer(out []byte) (auditor.Reply, error) {
	var r auditor.Reply
	messages, ended := 0, false
	for line := range bytes.Lines(out) {
		var in struct {
			Type string `json:"type"`
			Item struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"item"`
			Usage struct {
				In  int `json:"input_tokens"`
				Out int `json:"output_tokens"`
			} `json:"usage"`
		}
		if strictjson.Unmarshal(bytes.TrimSpace(line), &in) != nil {
			return auditor.Reply{}, errNoForm
		}
		switch {
		case in.Type == "item.completed" && in.Item.Type == "agent_message":
			r.Text = in.Item.Text
			messages++
		case in.Type == "turn.completed":
			r.In, r.Out, ended = in.Usage.In, in.Usage.Out, true
		case in.Type == "turn.failed", in.Type == "error":
			return auditor.Reply{}, errors.New("it says that it failed")
		}
	}
	if messages != 1 || !ended {
		return auditor.Reply{}, errNoForm
	}
	return r, nil
}

func geminiAnswer(out []byte) (auditor.Reply, error) {
	var in *struct {
		Response *string          `json:"response"`
		Error    strictjson.Value `json:"error"`
	}
	if at := bytes.IndexByte(out, '{'); at > 0 {
		out = out[at:] // it says in front that it has no colours
	}
	if strictjson.Unmarshal(bytes.TrimSpace(out), &in) != nil || in == nil {
		return auditor.Reply{}, errNoForm
	}
	if in.Response == nil || len(in.Error) > 0 {
		return auditor.Reply{}, errors.New("it says that it failed")
	}
	return auditor.Reply{Text: *in.Response}, nil
}

// opencodeAnswer takes the texts of the one step.
func opencodeAnswer(out []byte) (auditor.Reply, error) {
	var r auditor.Reply
	ended := 0
	for line := range bytes.Lines(out) {
		var in struct {
			Type string `json:"type"`
			Part struct {
				Text   string `json:"text"`
				Tokens struct {
					In  int `json:"input"`
					Out int `json:"output"`
				} `json:"tokens"`
			} `json:"part"`
		}
		if strictjson.Unmarshal(bytes.TrimSpace(line), &in) != nil {
			return auditor.Reply{}, errNoForm
		}
		switch in.Type {
		case "text":
			r.Text += in.Part.Text
		case "step_finish":
			r.In, r.Out = in.Part.Tokens.In, in.Part.Tokens.Out
			ended++
		case "step_start":
		case "error":
			return auditor.Reply{}, errors.New("it says that it failed")
		default: // a tool, or what nobody knows
			return auditor.Reply{}, errNoForm
		}
	}
	if r.Text == "" || ended != 1 {
		return auditor.Reply{}, errNoForm
	}
	return r, nil
}
