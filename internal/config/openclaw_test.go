package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/explain"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// written is the plugin's own example, letter by letter.
const written = `{
  "plugins": {
    "load": {
      "paths": [
        "/path/to/openclaw-provenance"
      ]
    },
    "entries": {
      "provenance": {
        "enabled": true,
        "config": {
          "taintPolicy": {
            "system": "allow",
            "owner": "allow",
            "local": "allow",
            "shared": "confirm",
            "external": "confirm",
            "untrusted": "confirm"
          },
          "approvalTtlSeconds": 120,
          "toolOverrides": {
            "gateway": { "*": "confirm" }
          }
        }
      }
    }
  },
  "hooks": {
    "internal": {
      "enabled": true
    }
  }
}
`

const native = `
preset: classic
taintPolicy: {system: allow, owner: allow, local: allow, shared: confirm, external: confirm, untrusted: confirm}
approvalTtlSeconds: 120
toolOverrides: {gateway: {"*": confirm}}
`

func parse(t *testing.T, file, text string) *config.Config {
	t.Helper()
	c, faults := config.Parse(file, []byte(text), env(nil))
	if c == nil {
		t.Fatalf("parse %s:\n%s", file, faults.Render([]byte(text)))
	}
	return c
}

// modes is what a policy does with every tool it knows and one it does not, at every level.
func modes(set *policy.Set) map[string]string {
	out := map[string]string{}
	for _, name := range append(set.Tools(), "nobody_knows_it") {
		for _, l := range trust.Levels() {
			x := explain.Tool(set, name, l, nil)
			out[name+" at "+l.String()] = x.Mode + " by " + x.Rule
		}
	}
	return out
}

// PRV-23
func TestThePluginsConfigurationWorksInsideAnOpenClawFile(t *testing.T) {
	want := parse(t, "tidemark.yaml", native)
	relaxed := `// the same, as a person writes it
{
	plugins: { entries: { tidemark: { enabled: true, hooks: {allowConversationAccess: true}, /* ours */ config: {
		url: 'http://127.0.0.1:8417', failClosed: true,
		taintPolicy: {system:'allow',owner:'allow',local:'allow',shared:'confirm',external:'confirm',untrusted:'confirm',},
		approvalTtlSeconds: 0x78, toolOverrides: {gateway:{'*':"c\u006fnfirm"}},
	} } } },
	agents: { list: [{id: "main"}, +1, .5, null,], },
}`
	for name, c := range map[string]*config.Config{
		"as written":              parse(t, "/home/me/.openclaw/openclaw.json", written),
		"under another name":      parse(t, "gateway.json", written),
		"with comments and so on": parse(t, "openclaw.json", relaxed),
	} {
		if c.Policy.Version() != want.Policy.Version() {
			t.Errorf("%s: got policy version %s, want that of the native file, %s", name, c.Policy.Version(), want.Policy.Version())
		}
		if diff := cmp.Diff(modes(want.Policy), modes(c.Policy)); diff != "" {
			t.Errorf("%s: (-native +got)\n%s", name, diff)
		}
		if got := c.Policy.Settings(); got.Preset != "classic" || got.ApprovalTTL != want.Policy.Settings().ApprovalTTL {
			t.Errorf("%s: got settings %+v", name, got)
		}
		if c.Server.Listen != config.DefaultListen || len(c.Hooks) != 0 {
			t.Errorf("%s: got %+v and %d plugins, want the defaults: the host's keys are not ours", name, c.Server, len(c.Hooks))
		}
	}
	bare := parse(t, "openclaw.json", `{"plugins":{"entries":{"tidemark":{"enabled":true}}}}`)
	if got, want := modes(bare.Policy), modes(parse(t, "tidemark.yaml", "preset: classic").Policy); !cmp.Equal(got, want) {
		t.Errorf("an entry without config is not preset classic:\n%s", cmp.Diff(want, got))
	}
}

// PRV-23
func TestFaultsPointIntoTheOpenClawFile(t *testing.T) {
	wrap := func(config string) string {
		return "{\n \"plugins\": {\"entries\": {\"tidemark\": {\"config\": {\n  " + config + "\n }}}}\n}"
	}
	tests := map[string]struct{ file, want string }{
		"a mode nobody knows":         {wrap(`"taintPolicy": {"shared": "maybe"}`), "openclaw.json:3:29: plugins.entries.tidemark.config.taintPolicy.shared must be allow, confirm, deny or restrict, not \"maybe\"\n      \"taintPolicy\": {\"shared\": \"maybe\"}\n                                ^\n"},
		"a level nobody knows":        {wrap(`"taintPolicy": {"shard": "allow"}`), "openclaw.json:3:19: "},
		"a key nobody knows":          {wrap(`"taintPolcy": {}`), `openclaw.json:3:3: unknown key "taintPolcy" in plugins.entries.tidemark.config`},
		"a number out of bounds":      {wrap(`"maxIterations": -1`), "openclaw.json:3:20: "},
		"a native key of the server":  {wrap(`"server": {"listen": "0.0.0.0:1"}`), `unknown key "server"`},
		"a key given twice":           {wrap(`"maxIterations": 1, "maxIterations": 2`), `openclaw.json:3:23: key "maxIterations" is given twice`},
		"no plugins at all":           {"{}", "has no plugins.entries"},
		"no entry of ours":            {`{"plugins": {"entries": {"other": {}}}}`, "neither tidemark nor provenance"},
		"two entries of ours":         {`{"plugins": {"entries": {"tidemark": {}, "provenance": {}}}}`, "has both"},
		"an entry that is no map":     {`{"plugins": {"entries": {"tidemark": true}}}`, "plugins.entries.tidemark must be a map"},
		"an entry in another file":    {`{"plugins": {"entries": {"tidemark": {"config": {"$include": "x.json5"}}}}}`, "$include is not followed"},
		"plugins in another file":     {`{"plugins": {"$include": "x.json5", "entries": {"tidemark": {}}}}`, "$include is not followed"},
		"an unclosed bracket":         {`{"plugins": {`, "openclaw.json:1:13: this bracket is never closed"},
		"an unclosed text":            {"{\"plugins", "openclaw.json:1:2: this text never ends"},
		"an unclosed comment":         {"{ /* ", "openclaw.json:1:3: this comment never ends"},
		"a missing comma":             {`{"a": 1 "b": 2}`, "openclaw.json:1:9: a comma or \"}\" should stand here"},
		"a missing colon":             {`{"a" 1}`, "a colon should stand here"},
		"text without quotes":         {`{"a": hello}`, "text stands in quotes"},
		"a number with a zero before": {`{"a": 010}`, "this is no value"},
		"two values":                  {`{} {}`, "something follows"},
		"an empty file":               {"", "the file ends where a value should stand"},
		"bytes that are no text":      {"{\"a\": \"\xff\"}", "not valid UTF-8"},
		"nesting without end":         {strings.Repeat("[", 5000), "nested too deep"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				c, faults := config.Parse("openclaw.json", []byte(tt.file), env(nil))
				if got := faults.Render([]byte(tt.file)); c != nil || !strings.Contains(got, tt.want) || !strings.HasPrefix(got, "openclaw.json") {
					t.Errorf("got config %v and\n%s\nwant no config and %q", c != nil, got, tt.want)
				}
			}
		})
	}
}

func TestAnEntryThatIsSwitchedOffIsWarnedAbout(t *testing.T) {
	text := `{"plugins": {"entries": {"tidemark": {"enabled": false}}}}`
	c, faults := config.Parse("openclaw.json", []byte(text), env(nil))
	if c == nil || len(faults) != 1 || !strings.Contains(faults[0].Error(), "OpenClaw does not run this plugin") {
		t.Errorf("got config %v and %v, want one warning", c != nil, faults)
	}
}

func TestJSONOfOursStaysOurs(t *testing.T) {
	c := parse(t, "tidemark.json", `{"preset": "paranoid", "server": {"listen": "127.0.0.1:1"}}`)
	if c.Policy.Settings().Preset != "paranoid" || c.Server.Listen != "127.0.0.1:1" {
		t.Errorf("got preset %s on %s", c.Policy.Settings().Preset, c.Server.Listen)
	}
}

func TestWhatAnOpenClawFileSaysAboutItsModels(t *testing.T) {
	got, faults := config.ReadOpenClaw("openclaw.json", []byte(`{
  plugins: {entries: {provenance: {enabled: true}}},
  models: {mode: "replace", providers: {main: {baseUrl: 'http://127.0.0.1:8417/openai/v1'}, other: {}}},
}`))
	want := config.OpenClaw{Entry: "provenance", Enabled: true, Replaces: true, Providers: []config.Provider{{"main", "http://127.0.0.1:8417/openai/v1"}, {"other", ""}}}
	if diff := cmp.Diff(want, got); diff != "" || len(faults) > 0 {
		t.Errorf("(-want +got)\n%s\nfaults %v", diff, faults)
	}
	if got, _ := config.ReadOpenClaw("openclaw.json", []byte(`{models: {$include: "m.json5"}}`)); !got.Included || got.Replaces || got.Entry != "" || got.Enabled {
		t.Errorf("got %+v, want it to say that a part is elsewhere", got)
	}
	if _, faults := config.ReadOpenClaw("openclaw.json", []byte("{")); len(faults) != 1 {
		t.Errorf("a broken file: got %v, want one fault", faults)
	}
}

func FuzzOpenClawFile(f *testing.F) {
	f.Add(written)
	f.Add(`{plugins:{entries:{tidemark:{config:{taintPolicy:{shared:'restrict'}}}}}} // end`)
	f.Add("{\"a\\ud83d\\ude00\": [1, -.5e3, 'x\\\ny', \"\\x41\"]}")
	f.Add("{/*")
	f.Fuzz(func(t *testing.T, text string) {
		c, faults := config.Parse("openclaw.json", []byte(text), env(nil))
		if (c == nil) != (faults.Err() != nil) {
			t.Fatalf("got config %v with faults %v", c != nil, faults)
		}
		_ = faults.Render([]byte(text))
		again, _ := config.Parse("openclaw.json", []byte(text), env(nil))
		if c != nil && again.Policy.Version() != c.Policy.Version() {
			t.Fatal("the same file is two policies")
		}
	})
}
