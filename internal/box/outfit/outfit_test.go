package outfit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/outfit"
)

const sign = "sk-box-0123456789abcdef"

// An agent is known by what its user types, and only by that.
func TestKnown(t *testing.T) {
	for command, want := range map[string]string{
		"claude": "claude", "/usr/bin/codex": "codex", "gemini.js": "gemini", "make": "", "": "", "notclaude": "", "claude-helper": "", "./claude/run": "",
	} {
		if got := outfit.Known(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

// Every agent has its models at the door, the sign for a key, its servers, and no file outside the folders that are its own.
func TestWhatAgentsAreGiven(t *testing.T) {
	around := outfit.Around{Base: "http://127.0.0.1:8417", Sign: sign, Servers: []string{"git hub", "files"}, Home: "/home/d"}
	for _, agent := range append(outfit.Names(), "") {
		o, err := outfit.For(agent, around)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"ANTHROPIC_BASE_URL=http://127.0.0.1:8417/anthropic", "ANTHROPIC_API_KEY=" + sign, "OPENAI_BASE_URL=http://127.0.0.1:8417/openai/v1",
			"OPENAI_API_KEY=" + sign, "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8417/gemini", "GEMINI_API_KEY=" + sign,
		} {
			if !slices.Contains(o.Env, want) {
				t.Errorf("%s lacks %s", agent, want)
			}
		}
		if agent == "" {
			if len(o.Own)+len(o.Files) > 0 {
				t.Error("one that nobody knows is given folders")
			}
			continue
		}
		for path, text := range o.Files {
			if !slices.ContainsFunc(o.Own, func(own string) bool { return strings.HasPrefix(path, own+"/") }) {
				t.Errorf("%s: %s lies outside", agent, path)
			}
			if !strings.Contains(text, "/mcp/files") {
				t.Errorf("%s has no servers: %s", agent, text)
			}
			var v map[string]any
			if strings.HasSuffix(path, ".json") && strictjson.Unmarshal([]byte(text), &v) != nil {
				t.Errorf("%s: %s", agent, text)
			}
		}
	}
}

// What is given takes the place of what the caller has, and of nothing else.
func TestInto(t *testing.T) {
	w := box.Want{Home: "/home/d", Env: []string{"ANTHROPIC_API_KEY=real", "HOME=/home/d", "GITHUB_TOKEN=x"}, Keep: []string{"A"}}
	o, err := outfit.For("claude", outfit.Around{Base: "http://b", Sign: sign, Home: "/home/d"})
	if err != nil {
		t.Fatal(err)
	}
	o.Into(&w)
	if all := strings.Join(w.Env, " "); strings.Contains(all, "real") || !strings.Contains(all, "ANTHROPIC_API_KEY="+sign) || !strings.Contains(all, "HOME=/home/d ") {
		t.Errorf("%s", all)
	}
	if !slices.Contains(w.Keep, "A") || !slices.Contains(w.Keep, "ANTHROPIC_API_KEY") || slices.Contains(w.Keep, "GITHUB_TOKEN") {
		t.Errorf("%q", w.Keep)
	}
}

// A key goes to the provider whose it is. One that is for another address stays.
func TestKeys(t *testing.T) {
	for name, c := range map[string]struct {
		env    map[string]string
		want   map[string]string
		spared string
	}{
		"none":                    {nil, map[string]string{}, ""},
		"each in its own header":  {map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GOOGLE_API_KEY": "g"}, map[string]string{"anthropic": "X-Api-Key a", "openai": "Authorization Bearer o", "gemini": "X-Goog-Api-Key g"}, ""},
		"a token":                 {map[string]string{"ANTHROPIC_AUTH_TOKEN": "t"}, map[string]string{"anthropic": "Authorization Bearer t"}, ""},
		"for a server of their's": {map[string]string{"ANTHROPIC_API_KEY": "a", "ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_BASE_URL": "https://gateway.example", "OPENAI_API_KEY": "o"}, map[string]string{"openai": "Authorization Bearer o"}, "anthropic"},
	} {
		found, spared := outfit.Keys(func(name string) string { return c.env[name] })
		got := map[string]string{}
		for api, key := range found {
			got[api] = key.Header + " " + key.Value
		}
		for api, want := range c.want {
			if got[api] != want {
				t.Errorf("%s: %s is %q, want %q", name, api, got[api], want)
			}
		}
		if len(got) != len(c.want) || strings.Join(spared, " ") != c.spared {
			t.Errorf("%s: %v, spared %v", name, got, spared)
		}
	}
}
