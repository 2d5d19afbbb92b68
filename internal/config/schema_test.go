package config_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidemark/tidemark/internal/config"
)

var update = flag.Bool("update", false, "rewrite tidemark.schema.json")

var (
	linked     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	emphasised = regexp.MustCompile(`\*{1,2}([\pL ]+)\*{1,2}`)
)

// meanings are what the tables of docs/dev/configuration.md say of keys, by their last words, as plain text: an editor follows no link of ours.
func meanings(t *testing.T) map[string]string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/dev/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([A-Za-z.<>]+)` \\|(?: [^|]* \\|)? ((?:[^|]|\\\\\\|)+) \\|$")
	for _, m := range row.FindAllStringSubmatch(string(doc), -1) {
		if _, twice := out[m[1]]; !twice {
			text := emphasised.ReplaceAllString(linked.ReplaceAllString(m[2], "$1"), "$1")
			out[m[1]] = strings.NewReplacer("`", "", `\|`, "|").Replace(text)
		}
	}
	return out
}

// describe puts the words of the documentation to the keys it has a row for.
func describe(schema map[string]any, path string, words map[string]string) {
	props, _ := schema["properties"].(map[string]any)
	for name, below := range props {
		s, ok := below.(map[string]any)
		if !ok {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		text := words[at]
		if text == "" && path != "" {
			text = words[name]
		}
		if text != "" {
			s["description"] = text
		}
		describe(s, at, words)
	}
}

// The file that editors read has every key that the reader knows, and no other.
func TestTheSchemaIsWhatIsRead(t *testing.T) {
	schema, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(schema) // plain values, as the file has them
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	describe(want, "", meanings(t))
	text, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile("tidemark.schema.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), string(config.SchemaFile)); diff != "" {
		t.Errorf("tidemark.schema.json is behind (go test ./internal/config -run Schema -update):\n%s", diff)
	}
}

// compiled is the schema as a library of others reads it.
var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.SchemaFile))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tidemark.schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("tidemark.schema.json")
})

// validate holds a file against the schema.
func validate(t *testing.T, file string) error {
	t.Helper()
	s, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := yaml.YAMLToJSON([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

// What Parse takes the schema takes, and what it finds faults in the schema finds faults in.
func TestTheSchemaJudgesAsTheReaderDoes(t *testing.T) {
	good := map[string]string{
		"nothing": "{}",
		"the README's": "warrants: {pay: {aim: said}}\ntoolOverrides: {exec: {external: hide, untrusted: hide}}\n" +
			"rules: [{name: no-production, tools: [exec], when: 'args.command.contains(\"prod\")', effect: deny}]\n",
		"a tool by itself":  "rules: [{name: a, tools: exec, effect: deny}]",
		"trust rules":       "trustRules: [{name: a, tools: [web_fetch], url: ['https://*.corp.example/**'], trust: local}]",
		"plugins":           "plugins: {cost: {day: {tokens: 5, money: 0.5}, prices: {'*': {input: 1, output: 2.5}}}, compliance: , experiment: {name: x}}",
		"sections":          "server: {listen: '127.0.0.1:1'}\nllm: {upstreams: {mine: {api: openai, baseUrl: 'http://127.0.0.1:1'}}, wait: 30s}\nmcp: {wait: 10s}\n",
		"an agent":          "agents: {helper: {taintPolicy: {shared: hide}}}",
		"hooks":             "hooks: [{name: a, url: 'https://x.example', hooks: [agent_end], secretEnv: S}]",
		"levels and modes":  "preset: classic\ntaintPolicy: {shared: allow}\n",
		"several policies":  "policies: [{name: a, when: {context_taint_includes: [external]}, action: {remove_tools: [exec]}}]",
		"one by expression": "policies: [{name: a, when: 'taint >= shared', action: {block_turn: true}}]",
	}
	for name, file := range good {
		c, faults := config.Parse("tidemark.yaml", []byte(file), env(map[string]string{"S": secret}))
		if c == nil {
			t.Errorf("%s: the reader has %v", name, faults)
		}
		if err := validate(t, file); err != nil {
			t.Errorf("%s: the schema has %v", name, err)
		}
	}
	bad := map[string]string{
		"a key nobody knows":    "taintpolicy: {}",
		"one further down":      "server: {lisen: x}",
		"one in a list":         "rules: [{name: a, tolls: [exec], effect: deny}]",
		"a word nobody knows":   "taintPolicy: {shared: maybe}",
		"a number out of range": "approvalTtlSeconds: 1",
		"a list that is a map":  "hooks: {}",
		"a text that is a list": "preset: [balanced]",
		"a slot nobody knows":   "warrants: {pay: {recipient: said}}",
		"a plugin nobody has":   "plugins: {costs: {}}",
		"a hook nobody has":     "hooks: [{name: a, url: 'https://x.example', hooks: [before_tool], secretEnv: S}]",
	}
	for name, file := range bad {
		if c, _ := config.Parse("tidemark.yaml", []byte(file), env(map[string]string{"S": secret})); c != nil {
			t.Errorf("%s: the reader takes it", name)
		}
		if validate(t, file) == nil {
			t.Errorf("%s: the schema takes it", name)
		}
	}
}

// Every example of the documentation that is a file of ours fits.
func TestExamplesOfTheDocumentationFitTheSchema(t *testing.T) {
	known := map[string]bool{}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(config.SchemaFile, &schema); err != nil {
		t.Fatal(err)
	}
	for key := range schema.Properties {
		known[key] = true
	}
	tried := 0
	docs := []string{"configuration.md", "dev/configuration.md", "plugins.md", "mcp.md", "llm-proxy.md", "people.md", "../README.md"}
	for _, doc := range docs {
		data, err := os.ReadFile("../../docs/" + doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range indented(string(data)) {
			key, _, isKey := strings.Cut(block, ":")
			var whole map[string]any
			if !isKey || !known[strings.TrimSpace(key)] || yaml.Unmarshal([]byte(block), &whole) != nil {
				continue
			}
			tried++
			if err := validate(t, block); err != nil {
				t.Errorf("%s:\n%s\n%v", doc, block, err)
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d examples were found", tried)
	}
}

// indented are the blocks of a document that stand four columns in.
func indented(doc string) []string {
	var out []string
	var block strings.Builder
	for line := range strings.Lines(doc + "\nend\n") {
		text, in := strings.CutPrefix(line, "    ")
		switch {
		case in:
			block.WriteString(text)
		case strings.TrimSpace(line) == "" && block.Len() > 0:
			block.WriteString("\n")
		case block.Len() > 0:
			out = append(out, block.String())
			block.Reset()
		}
	}
	return out
}

// Nobody reads a thousand settings: those that have one good value hide those that protect. What stands in the place of a former key
// is said in docs/decisions/0116-fewer-settings.md.
func TestThereAreFewSettings(t *testing.T) {
	const most, sections = 350, 53
	var schema map[string]any
	if err := json.Unmarshal(config.SchemaFile, &schema); err != nil {
		t.Fatal(err)
	}
	if n := settings(schema); n > most {
		t.Errorf("a file can have %d settings, and %d are too many to read: merge two, or let one be chosen by itself", n, most)
	}
	if top, _ := schema["properties"].(map[string]any); len(top) > sections {
		t.Errorf("a file can have %d sections; the cap is %d", len(top), sections)
	}
}

// settings counts names of keys, each where it stands in the schema; what points elsewhere was counted there.
func settings(schema map[string]any) int {
	n := 0
	props, _ := schema["properties"].(map[string]any)
	for _, below := range props {
		n++
		if s, ok := below.(map[string]any); ok {
			n += settings(s)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if s, ok := schema[key].(map[string]any); ok {
			n += settings(s)
		}
	}
	return n
}
