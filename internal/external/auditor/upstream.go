package auditor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Responses is the wire of OpenAI's responses; the other wires of an upstream are OpenAI's chat completions, Anthropic's messages
// and Gemini's own.
const Responses = "responses"

// Wires are what an upstream can be asked in.
func Wires() []string { return []string{OpenAI, Responses, Anthropic, Gemini} }

// generate speaks Gemini's own API, which clients behind the proxy speak.
type generate struct {
	speaker
	endpoint

	name string
}

func newGenerate(o *Options, u *url.URL, client *http.Client) *generate {
	m := &generate{name: o.Model, endpoint: newEndpoint(o, u, client)}
	m.last.Store(&dialect{completionTokens: true}) // it has one name for the limit
	return m
}

type generateRequest struct {
	System   generateContent   `json:"systemInstruction"`
	Contents []generateContent `json:"contents"`
	Config   generateConfig    `json:"generationConfig"`
}

type generateContent struct {
	Role  string         `json:"role,omitzero"`
	Parts []generatePart `json:"parts"`
}

// generatePart is a piece of text; anything else that an answer holds is seen as more than text.
type generatePart struct {
	Text    string           `json:"text"`
	Thought bool             `json:"thought,omitzero"`
	Call    strictjson.Value `json:"functionCall,omitzero"`
}

type generateConfig struct {
	Temperature *float64         `json:"temperature,omitzero"`
	MaxTokens   int              `json:"maxOutputTokens"`
	Type        string           `json:"responseMimeType,omitzero"`
	Schema      strictjson.Value `json:"responseJsonSchema,omitzero"`
}

// generated is what is read of an answer.
type generated struct {
	Candidates []struct {
		Content generateContent `json:"content"`
		Finish  string          `json:"finishReason"`
	} `json:"candidates"`
	Usage struct {
		In  int `json:"promptTokenCount"`
		Out int `json:"candidatesTokenCount"`
	} `json:"usageMetadata"`
}

func (m *generate) ask(ctx context.Context, r *request) (string, error) {
	at, err := m.endpoint.of(r.session)
	if err != nil {
		return "", err
	}
	return m.speak(func(d dialect) (string, error) {
		body := generateRequest{
			System:   generateContent{Parts: []generatePart{{Text: plain(r.system)}}},
			Contents: []generateContent{{Role: "user", Parts: []generatePart{{Text: plain(r.user)}}}},
			Config:   generateConfig{Temperature: d.temperature(), MaxTokens: r.maxTokens},
		}
		if r.schema != "" && !d.noSchema {
			body.Config.Type, body.Config.Schema = "application/json", strictjson.Value(r.schema)
		}
		var res *generated
		if err := at.exchange(ctx, "v1beta/models/"+url.PathEscape(m.name)+":generateContent", &body, &res); err != nil {
			return "", err
		}
		switch {
		case res == nil:
			return "", errMalformed
		case len(res.Candidates) != 1:
			return "", fmt.Errorf("%w: %d candidates", errNoAnswer, len(res.Candidates))
		case res.Candidates[0].Finish != "STOP":
			return "", fmt.Errorf("%w: it did not end by itself", errNoAnswer)
		}
		r.cost(res.Usage.In, res.Usage.Out)
		var b strings.Builder
		for _, p := range res.Candidates[0].Content.Parts {
			switch {
			case len(p.Call) > 0:
				return "", fmt.Errorf("%w: it has more than text", errNoAnswer)
			case !p.Thought:
				b.WriteString(p.Text)
			}
		}
		return b.String(), nil
	})
}

func (m *generate) list(ctx context.Context) error { return m.endpoint.list(ctx, "v1beta/models") }

// responses speaks OpenAI's responses, for clients that speak nothing else.
type responses struct {
	speaker
	endpoint

	name string
}

func newResponses(o *Options, u *url.URL, client *http.Client) *responses {
	m := &responses{name: o.Model, endpoint: newEndpoint(o, u, client)}
	m.last.Store(&dialect{completionTokens: true, noTemperature: true})
	return m
}

type responsesRequest struct {
	Model        string         `json:"model"`
	Instructions string         `json:"instructions"`
	Input        []chatMessage  `json:"input"`
	MaxTokens    int            `json:"max_output_tokens"`
	Store        bool           `json:"store"` // no: nothing of it is to be kept
	Text         *responsesText `json:"text,omitzero"`
}

type responsesText struct {
	Format responsesFormat `json:"format"`
}

type responsesFormat struct {
	Type   string           `json:"type"`
	Name   string           `json:"name"`
	Strict bool             `json:"strict"`
	Schema strictjson.Value `json:"schema"`
}

// responded is what is read of an answer.
type responded struct {
	Status string `json:"status"`
	Output []struct {
		Type    string `json:"type"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"output"`
	Usage struct {
		In  int `json:"input_tokens"`
		Out int `json:"output_tokens"`
	} `json:"usage"`
}

func (m *responses) ask(ctx context.Context, r *request) (string, error) {
	at, err := m.endpoint.of(r.session)
	if err != nil {
		return "", err
	}
	return m.speak(func(d dialect) (string, error) {
		body := responsesRequest{
			Model: m.name, Instructions: plain(r.system), Input: []chatMessage{{"user", plain(r.user)}}, MaxTokens: r.maxTokens,
		}
		if r.schema != "" && !d.noSchema {
			body.Text = &responsesText{responsesFormat{"json_schema", r.kind, true, strictjson.Value(r.schema)}}
		}
		var res *responded
		if err := at.exchange(ctx, "responses", &body, &res); err != nil {
			return "", err
		}
		if res == nil {
			return "", errMalformed
		}
		r.cost(res.Usage.In, res.Usage.Out)
		return response(res)
	})
}

// response is the text of an answer that is complete and nothing but text and thoughts.
func response(res *responded) (string, error) {
	if res.Status != "completed" {
		return "", fmt.Errorf("%w: it did not end by itself", errNoAnswer)
	}
	var b strings.Builder
	for _, o := range res.Output {
		switch o.Type {
		case "reasoning":
			continue
		case "message":
		default:
			return "", fmt.Errorf("%w: it has more than text", errNoAnswer)
		}
		for _, c := range o.Content {
			if c.Type != "output_text" {
				return "", fmt.Errorf("%w: the model refused", errNoAnswer)
			}
			b.WriteString(c.Text)
		}
	}
	return b.String(), nil
}

func (m *responses) list(ctx context.Context) error { return m.endpoint.list(ctx, "models") }
