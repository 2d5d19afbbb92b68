package app_test

import (
	"net/http"
	"testing"

	"github.com/tidemark/tidemark/internal/services"
	"github.com/tidemark/tidemark/internal/test/audittest"
)

// A model reads whichever section and whoever's it is; one of which something is missing does not.
//
// MAN-12
func TestAModelThatReadsIsKnownByAnyName(t *testing.T) {
	m := audittest.New(t, audittest.Say(understood))
	for name, c := range map[string]struct {
		policy string
		want   bool
	}{
		"none":                        {"preset: balanced\n", false},
		"auditor":                     {"auditor: {provider: openai, baseUrl: '" + m.OpenAI() + "', model: test-model}\n", true},
		"reader":                      {readBy("openai", m, ""), true},
		"the client's own":            {"llm: {upstreams: {anthropic: {baseUrl: '" + m.Anthropic() + "', api: anthropic}}}\nreader: {provider: upstream, models: {anthropic: test-model}}\n", true},
		"an agent's own":              {"agents: {desk-bot: {reader: host}}\n", true},
		"a program that is not there": {"reader: {provider: program, program: codex, path: /nowhere/codex}\n", true},
		"a key that is not there":     {"reader: {provider: openai, model: test-model, apiKeyEnv: NO_SUCH_KEY_HERE}\n", false},
	} {
		s := serve(t, t.TempDir(), c.policy)
		var view struct {
			Parts []services.Part `json:"parts"`
		}
		s.do(http.MethodGet, "/v1/status", s.app.Tokens.Approver, nil, &view)
		if got := services.HasModel(view.Parts); got != c.want {
			t.Errorf("%s: %v of %+v", name, got, view.Parts)
		}
		s.stop()
	}
}
