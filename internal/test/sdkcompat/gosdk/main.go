// Command gosdk has conversations with the official Go client for Gemini. It stands in a
// module of its own because that client brings many others along. Each line of input is a
// job, each line of output what the client gave to the program; their fields are those of
// the tests beside it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"google.golang.org/genai"
)

type job struct {
	ID         string   `json:"id"`
	Base       string   `json:"base"`
	Key        string   `json:"key"`
	Stream     bool     `json:"stream"`
	Prompts    []string `json:"prompts"`
	Tools      []string `json:"tools"`
	DeadlineMs int      `json:"deadlineMs"`
}

type call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

type round struct {
	Text  string `json:"text"`
	Final string `json:"final"`
	Calls []call `json:"calls"`
	Stop  string `json:"stop"`
	Whole bool   `json:"whole"`
}

type fault struct {
	Kind    string `json:"kind"`
	Status  int    `json:"status"`
	Message string `json:"message"`
}

type result struct {
	ID      string   `json:"id"`
	Rounds  []*round `json:"rounds"`
	Error   *fault   `json:"error"`
	Expired bool     `json:"expired"`
	MS      int64    `json:"ms"`
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	var running sync.WaitGroup
	var lock sync.Mutex
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for in.Scan() {
		var j job
		if err := json.Unmarshal(in.Bytes(), &j); err != nil {
			log.Fatal(err)
		}
		running.Go(func() {
			r := run(j)
			lock.Lock()
			defer lock.Unlock()
			if err := out.Encode(r); err != nil {
				log.Fatal(err)
			}
		})
	}
	running.Wait()
}

func run(j job) result {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(j.DeadlineMs)*time.Millisecond)
	defer cancel()
	r, began := result{ID: j.ID}, time.Now()
	if err := converse(ctx, j, &r); err != nil {
		r.Error = &fault{Kind: fmt.Sprintf("%T", err), Message: err.Error()}
		if e, ok := errors.AsType[genai.APIError](err); ok {
			r.Error.Kind, r.Error.Status = "genai.APIError", e.Code
		}
	}
	r.Expired, r.MS = ctx.Err() != nil, time.Since(began).Milliseconds()
	return r
}

// mostRounds bounds a conversation: one that is longer is a fault.
const mostRounds = 8

func converse(ctx context.Context, j job, r *result) error {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: j.Key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: j.Base},
		HTTPClient: &http.Client{Transport: &http.Transport{}},
	})
	if err != nil {
		return err
	}
	t := &talk{client: client, config: &genai.GenerateContentConfig{}, stream: j.Stream}
	if len(j.Tools) > 0 {
		t.config.Tools = []*genai.Tool{{}}
	}
	for _, name := range j.Tools {
		t.config.Tools[0].FunctionDeclarations = append(t.config.Tools[0].FunctionDeclarations, &genai.FunctionDeclaration{
			Name: name, Description: "does " + name,
			ParametersJsonSchema: map[string]any{"type": "object", "properties": map[string]any{"v": map[string]any{"type": "string"}}},
		})
	}
	for _, prompt := range j.Prompts {
		t.list = append(t.list, genai.NewContentFromText(prompt, genai.RoleUser))
		if err := t.rounds(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

type talk struct {
	client *genai.Client
	config *genai.GenerateContentConfig
	list   []*genai.Content
	stream bool
}

// rounds goes on until the model calls no tool.
func (t *talk) rounds(ctx context.Context, r *result) error {
	for {
		if len(r.Rounds) >= mostRounds {
			return errors.New("the conversation does not end")
		}
		now := &round{}
		r.Rounds = append(r.Rounds, now)
		if err := t.ask(ctx, now); err != nil {
			return err
		}
		now.Whole = true
		if len(now.Calls) == 0 {
			return nil
		}
		answer := &genai.Content{Role: genai.RoleUser}
		for _, c := range now.Calls {
			answer.Parts = append(answer.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
				ID: c.ID, Name: c.Name, Response: map[string]any{"output": "done"},
			}})
		}
		t.list = append(t.list, answer)
	}
}

func (t *talk) ask(ctx context.Context, r *round) error {
	said := &genai.Content{Role: genai.RoleModel}
	if t.stream {
		for chunk, err := range t.client.Models.GenerateContentStream(ctx, "gemini-judge", t.list, t.config) {
			if err != nil {
				return err
			}
			if err := take(r, said, chunk); err != nil {
				return err
			}
		}
	} else {
		answer, err := t.client.Models.GenerateContent(ctx, "gemini-judge", t.list, t.config)
		if err != nil {
			return err
		}
		if err := take(r, said, answer); err != nil {
			return err
		}
	}
	if r.Stop == "" {
		return errors.New("the answer ended without a finish reason")
	}
	r.Final = r.Text
	t.list = append(t.list, said)
	return nil
}

func take(r *round, said *genai.Content, answer *genai.GenerateContentResponse) error {
	if len(answer.Candidates) == 0 {
		return nil
	}
	c := answer.Candidates[0]
	if c.FinishReason != "" {
		r.Stop = string(c.FinishReason)
	}
	if c.Content == nil {
		return nil
	}
	for _, p := range c.Content.Parts {
		said.Parts = append(said.Parts, p)
		if !p.Thought {
			r.Text += p.Text
		}
		if p.FunctionCall == nil {
			continue
		}
		args, err := json.Marshal(p.FunctionCall.Args)
		if err != nil {
			return err
		}
		r.Calls = append(r.Calls, call{p.FunctionCall.ID, p.FunctionCall.Name, string(args)})
	}
	return nil
}
