package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/config"
)

func llmEnv(name string) (string, bool) {
	v, ok := map[string]string{"OPENAI_API_KEY": "sk-from-the-environment", "BAD_KEY": "two words"}[name]
	return v, ok
}

func TestWithoutASectionThePublicUpstreamsAreThere(t *testing.T) {
	c, faults := config.Parse("tidemark.yaml", nil, llmEnv)
	if c == nil {
		t.Fatal(faults)
	}
	want := config.LLM{MaxContext: 32 << 20, MaxConcurrent: 512, Upstreams: []config.Upstream{
		{Name: "openai", API: "openai", BaseURL: "https://api.openai.com"},
		{Name: "anthropic", API: "anthropic", BaseURL: "https://api.anthropic.com"},
		{Name: "gemini", API: "gemini", BaseURL: "https://generativelanguage.googleapis.com"},
	}}
	if diff := cmp.Diff(want, c.LLM); diff != "" {
		t.Errorf("section (-want +got):\n%s", diff)
	}
}

func TestTheLLMSectionIsReadWhole(t *testing.T) {
	c, faults := config.Parse("tidemark.yaml", []byte(`
llm:
  upstreams:
    openai: {keyEnv: OPENAI_API_KEY, handshake: required, hooks: required}
    mine: {api: anthropic, baseUrl: "http://127.0.0.1:8080/x/"}
    far: {api: gemini, baseUrl: "http://models.example", plainHTTP: true}
  sender: unknown
  require: token
  maxContextBytes: 4096
  maxConcurrent: 3
  maxIterations: 7
  wait: 90s
  markers:
    - {begin: "[tool said]", end: "[end]", what: result, agent: odd}
    - {begin: "Note:"}
  instructions:
    - |
      You are in plan mode.
      Change nothing.
    - Answer in Danish.
`), llmEnv)
	if c == nil {
		t.Fatal(faults)
	}
	want := config.LLM{
		Sender: "unknown", Require: "token", MaxContext: 4096, MaxConcurrent: 3, MaxIterations: 7, Wait: 90 * time.Second,
		Markers:      []config.Marker{{Agent: "odd", Begin: "[tool said]", End: "[end]", What: "result"}, {Begin: "Note:", What: "reminder"}},
		Instructions: []string{"You are in plan mode.\nChange nothing.\n", "Answer in Danish."},
		Upstreams: []config.Upstream{
			{Name: "openai", API: "openai", BaseURL: "https://api.openai.com", Key: "sk-from-the-environment", Handshake: true, Hooks: true},
			{Name: "anthropic", API: "anthropic", BaseURL: "https://api.anthropic.com"},
			{Name: "gemini", API: "gemini", BaseURL: "https://generativelanguage.googleapis.com"},
			{Name: "mine", API: "anthropic", BaseURL: "http://127.0.0.1:8080/x"},
			{Name: "far", API: "gemini", BaseURL: "http://models.example"},
		},
	}
	if diff := cmp.Diff(want, c.LLM); diff != "" {
		t.Errorf("section (-want +got):\n%s", diff)
	}
}

func TestFaultsOfTheLLMSectionPoint(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a marker that begins with nothing": {"llm: {markers: [{end: x}]}", "begins with nothing"},
		"a marker of no kind":               {"llm: {markers: [{begin: x, what: rumour}]}", "rumour"},
		"instructions that say nothing":     {"llm: {instructions: [\" \"]}", "must not be empty"},
		"instructions that are no list":     {"llm: {instructions: x}", "tidemark.yaml:1:21"},
		"an upstream of ours":               {"llm: {upstreams: {canary: {api: openai, baseUrl: \"http://127.0.0.1:1\"}}}", "is ours"},
		"an unknown key":                    {"llm: {upstream: 1}", "tidemark.yaml:1:7"},
		"plain HTTP beyond here":            {"llm: {upstreams: {openai: {baseUrl: 'http://models.example'}}}", "not encrypted"},
		"a query":                           {"llm: {upstreams: {openai: {baseUrl: 'https://models.example/?a=1'}}}", "must not have a query"},
		"a key that is not set":             {"llm: {upstreams: {openai: {keyEnv: NOT_SET}}}", "environment variable NOT_SET"},
		"a key that is none":                {"llm: {upstreams: {openai: {keyEnv: BAD_KEY}}}", "environment variable BAD_KEY"},
		"no api":                            {"llm: {upstreams: {mine: {baseUrl: 'https://models.example'}}}", "needs api"},
		"no address":                        {"llm: {upstreams: {mine: {api: openai}}}", "needs baseUrl"},
		"a public one's api":                {"llm: {upstreams: {openai: {api: gemini}}}", "always speaks openai"},
		"a name for no path":                {"llm: {upstreams: {'a/b': {api: openai, baseUrl: 'https://models.example'}}}", "cannot stand in a path"},
		"a wait of no length":               {"llm: {wait: soon}", "not a length of time"},
		"a wait of weeks":                   {"llm: {wait: 200h}", "not a length of time"},
		"a sender nobody knows":             {"llm: {sender: friend}", "llm.sender"},
		"a bound that bounds not":           {"llm: {maxContextBytes: 0}", "llm.maxContextBytes"},
	} {
		cfg, faults := config.Parse("tidemark.yaml", []byte(c.text), llmEnv)
		if cfg != nil || !strings.Contains(faults.Error(), c.want) || !strings.Contains(faults.Error(), "tidemark.yaml:1:") {
			t.Errorf("%s: got %v, want a fault with its place that says %q", name, faults, c.want)
		}
	}
}

func TestAnAddressFromTheCommandLineIsChecked(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://models.example/v": true, "http://127.0.0.1:1": true, "http://models.example": false, "ftp://x": false,
		"https://a:b@models.example": false, "https://models.example?x": false, "": false,
	} {
		if got := config.CheckUpstream(address); (got == "") != ok {
			t.Errorf("%q: got %q, want usable: %v", address, got, ok)
		}
	}
}

func TestWhatTheOperatorVouchesForIsRead(t *testing.T) {
	c, faults := config.Parse("tidemark.yaml", []byte(`
llm:
  upstreams:
    azure: {api: openai, baseUrl: "https://a.example", keyHeader: api-key, passPaths: ["POST /v1/rank"], passNames: [trace_steps]}
`), llmEnv)
	if c == nil {
		t.Fatal(faults)
	}
	got := c.LLM.Upstreams[3]
	if got.KeyHeader != "api-key" || len(got.PassPaths) != 1 || !got.PassPaths[0].Match("POST", "/v1/rank") || !cmp.Equal(got.PassNames, []string{"trace_steps"}) {
		t.Errorf("got %+v", got)
	}
	for text, want := range map[string]string{
		`passPaths: ["/**"]`:  "passPaths[0] does not name a path",
		`passPaths: ["v1/x"]`: "passPaths[0] does not name a path",
		`passNames: ["a b"]`:  "passNames[0] is no name",
		`keyHeader: x-other`:  "keyHeader",
	} {
		c, faults := config.Parse("tidemark.yaml", []byte("llm: {upstreams: {openai: {"+text+"}}}"), llmEnv)
		if c != nil || !strings.Contains(faults.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, faults, want)
		}
	}
}

func TestAnUpstreamCanBeNamedOutsideTheFile(t *testing.T) {
	for text, want := range map[string]string{"mine": "mine openai ", "mine:gemini": "mine gemini ", "canary": "  the name", "A": "  the name", "x:y": "  the API"} {
		name, api, fault := config.NameUpstream(text)
		if got := name + " " + api + " " + fault; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// A signature needs a region and both parts of a key, and stands in the place of any other key.
func TestAnUpstreamThatIsSignedForIsRead(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session", "KEY": "k"}[name]
		return v, ok
	}
	with := func(rest string) []byte {
		return []byte("llm: {upstreams: {bedrock: {baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com', " + rest + "}}}")
	}
	c, faults := config.Parse("tidemark.yaml", with("api: bedrock, sign: us-east-1"), env)
	if c == nil {
		t.Fatal(faults)
	}
	want := &config.Signing{Region: "us-east-1", ID: "AKID", Secret: "secret", Token: "session"}
	if d := cmp.Diff(want, c.LLM.Upstreams[3].Sign); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for rest, fault := range map[string]string{
		"api: bedrock, sign: 'US East'":              "not a region",
		"api: openai, sign: us-east-1":               "sign is for api: bedrock",
		"api: bedrock, sign: us-east-1, keyEnv: KEY": "sign is for api: bedrock",
	} {
		if c, faults := config.Parse("tidemark.yaml", with(rest), env); c != nil || !strings.Contains(faults.Error(), fault) {
			t.Errorf("%s: got %v, want %q", rest, faults, fault)
		}
	}
	if c, faults := config.Parse("tidemark.yaml", with("api: bedrock, sign: us-east-1"), llmEnv); c != nil || !strings.Contains(faults.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("without a key: got %v, want the names of the variables", faults)
	}
}
