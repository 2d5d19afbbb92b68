package graph_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/graph"
)

// provRefs says, for each relation of PROV-JSON, which members must be there and what
// kind of record each one names.
var provRefs = map[string]map[string]string{
	"wasGeneratedBy":    {"prov:entity": "entity", "prov:activity": "activity"},
	"used":              {"prov:activity": "activity", "prov:entity": "entity"},
	"wasInformedBy":     {"prov:informed": "activity", "prov:informant": "activity"},
	"wasStartedBy":      {"prov:activity": "activity", "prov:trigger": "entity"},
	"wasInvalidatedBy":  {"prov:entity": "entity", "prov:activity": "activity"},
	"wasDerivedFrom":    {"prov:generatedEntity": "entity", "prov:usedEntity": "entity"},
	"wasAttributedTo":   {"prov:entity": "entity", "prov:agent": "agent"},
	"wasAssociatedWith": {"prov:activity": "activity", "prov:agent": "agent"},
	"wasInfluencedBy":   {"prov:influencee": "any", "prov:influencer": "any"},
}

// checkPROV holds a document against the rules of PROV-JSON: known parts only, declared
// prefixes, unique ids, no dangling reference, one generation per entity, typed literals.
func checkPROV(t rapid.TB, body []byte) map[string]map[string]map[string]any {
	t.Helper()
	var doc map[string]map[string]any
	if err := strictjson.Unmarshal(body, &doc); err != nil {
		t.Fatalf("read PROV: %v", err)
	}
	prefix := doc["prefix"]
	delete(doc, "prefix")
	kinds, parts := map[string]string{}, map[string]map[string]map[string]any{}
	for part, records := range doc {
		if part != "entity" && part != "activity" && part != "agent" && provRefs[part] == nil {
			t.Errorf("unknown part %q", part)
		}
		parts[part] = map[string]map[string]any{}
		for id, r := range records {
			if kinds[id] != "" {
				t.Errorf("id %q is used twice", id)
			}
			kinds[id] = part
			parts[part][id], _ = r.(map[string]any)
			checkPROVName(t, prefix, id)
			checkPROVMembers(t, prefix, parts[part][id])
		}
	}
	generated := map[any]bool{}
	for part, refs := range provRefs {
		for id, r := range parts[part] {
			for member, want := range refs {
				name, _ := r[member].(string)
				if got := kinds[name]; got != want && (want != "any" || got == "") {
					t.Errorf("%s of %s %s is %q, want the id of an %s, it is %q", member, part, id, name, want, got)
				}
			}
			if part == "wasGeneratedBy" {
				if generated[r["prov:entity"]] {
					t.Errorf("%v is generated twice", r["prov:entity"])
				}
				generated[r["prov:entity"]] = true
			}
		}
	}
	return parts
}

func checkPROVName(t rapid.TB, prefix map[string]any, name string) {
	t.Helper()
	p, local, ok := strings.Cut(name, ":")
	if !ok || local == "" || p != "_" && prefix[p] == nil {
		t.Errorf("%q is not a qualified name of a declared prefix", name)
	}
	if i := strings.IndexFunc(local, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.%", r)
	}); i >= 0 {
		t.Errorf("local name %q holds %q", local, local[i:])
	}
}

func checkPROVMembers(t rapid.TB, prefix, record map[string]any) {
	t.Helper()
	for k, v := range record {
		checkPROVName(t, prefix, k)
		if k == "prov:startTime" || k == "prov:endTime" {
			if _, err := time.Parse(time.RFC3339, v.(string)); err != nil {
				t.Errorf("%s: %v", k, err)
			}
		}
		values, many := v.([]any)
		if !many {
			values = []any{v}
		}
		for _, v := range values {
			switch v := v.(type) {
			case string, float64, bool:
			case map[string]any:
				if v["type"] != "xsd:QName" {
					t.Errorf("%s is %v, want a typed literal", k, v)
				}
				checkPROVName(t, prefix, v["$"].(string))
			default:
				t.Errorf("%s is a %T, want a literal", k, v)
			}
		}
	}
}

// HOOK-17
func TestPROVIsAValidDocument(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphOf(t, drawTurn(rt))
		g.TurnID, g.SessionKey, g.AgentID = rapid.String().Draw(rt, "turn"), rapid.String().Draw(rt, "session"), rapid.String().Draw(rt, "agent")
		body, err := g.PROV()
		if err != nil {
			rt.Fatal(err)
		}
		if parts := checkPROV(rt, body); len(parts["entity"])+len(parts["activity"]) != len(g.Nodes)+1 {
			rt.Errorf("%d entities and %d activities, want one record per node (%d) and the turn", len(parts["entity"]), len(parts["activity"]), len(g.Nodes))
		}
	})
}

// HOOK-17 SEQ-04
func TestPROVOfATurn(t *testing.T) {
	g := graphOf(t, `began owner agent=main sender=u1 say=hello
		model name=m1
		call c1 web_fetch allow
		result c1 web_fetch untrusted say=page
		model
		call c2 exec confirm kind=taint-escalation ask=q1
		vote q1 approve by=ann
		reset owner
		sealed block=no`)
	body, err := g.PROV()
	if err != nil {
		t.Fatal(err)
	}
	checkPROV(t, body)
	compareGolden(t, "turn.prov.json", body)
}

func TestPROVRefusesABrokenGraph(t *testing.T) {
	tests := []struct {
		name  string
		graph graph.Graph
		want  string
	}{
		{"an edge to nowhere", graph.Graph{Nodes: []graph.Node{{ID: "a"}}, Edges: []graph.Edge{{From: "a", To: "b", Relation: graph.Triggers}}}, "leads nowhere"},
		{"two nodes of one id", graph.Graph{Nodes: []graph.Node{{ID: "a"}, {ID: "a"}}}, "two nodes"},
		{"a node without an id", graph.Graph{Nodes: []graph.Node{{}}}, "no id"},
		{"a node that is not text", graph.Graph{Nodes: []graph.Node{{ID: "a", Tool: "\xff"}}}, "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.graph.PROV(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("PROV() = %v, want an error with %q", err, tt.want)
			}
		})
	}
}
