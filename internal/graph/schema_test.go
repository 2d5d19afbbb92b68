package graph_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/graph"
)

// turnGraphSchema is the TurnGraph interface of the hooks seed, field by field.
const turnGraphSchema = `{
  "type": "object",
  "required": ["turnId", "sessionKey", "timestamp", "durationMs", "nodes", "edges", "summary"],
  "additionalProperties": false,
  "properties": {
    "turnId": {"type": "string"},
    "sessionKey": {"type": "string"},
    "agentId": {"type": "string"},
    "timestamp": {"type": "integer"},
    "durationMs": {"type": "integer", "minimum": 0},
    "nodes": {"type": "array", "items": {
      "type": "object",
      "required": ["id", "kind", "trust"],
      "additionalProperties": false,
      "properties": {
        "id": {"type": "string", "minLength": 1},
        "kind": {"enum": ["input", "system_prompt", "history", "llm_call", "tool_call", "tool_result", "output", "policy_decision"]},
        "trust": {"$ref": "#/$defs/level"},
        "tool": {"type": "string"},
        "iteration": {"type": "integer"},
        "contentHash": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "contentPreview": {"type": "string", "maxLength": 100},
        "blocked": {"const": true},
        "blockReason": {"type": "string"},
        "metadata": {"type": "object"}
      }
    }},
    "edges": {"type": "array", "items": {
      "type": "object",
      "required": ["from", "to", "relation"],
      "additionalProperties": false,
      "properties": {
        "from": {"type": "string"},
        "to": {"type": "string"},
        "relation": {"enum": ["triggers", "produces", "consumes", "derives_from", "blocked_by"]}
      }
    }},
    "summary": {
      "type": "object",
      "required": ["maxTaint", "externalSources", "toolsBlocked", "iterationCount"],
      "additionalProperties": false,
      "properties": {
        "maxTaint": {"$ref": "#/$defs/level"},
        "externalSources": {"type": "array", "items": {"type": "string"}},
        "toolsBlocked": {"type": "array", "items": {"type": "string"}},
        "iterationCount": {"type": "integer", "minimum": 0}
      }
    }
  },
  "$defs": {"level": {"enum": ["system", "owner", "local", "shared", "external", "untrusted"]}}
}`

// HOOK-11
func TestEveryGraphFitsTheSchemaOfTheSeed(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(turnGraphSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("turn-graph.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("turn-graph.json")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		g := graphOf(t, drawTurn(rt))
		body, err := strictjson.Marshal(g)
		if err != nil {
			rt.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			rt.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			rt.Errorf("graph does not fit the schema: %v\n%s", err, body)
		}
	})
	empty, err := strictjson.Marshal(graph.NewBuilder("s1").Graph())
	if err != nil {
		t.Fatal(err)
	}
	if value, err := jsonschema.UnmarshalJSON(bytes.NewReader(empty)); err != nil || schema.Validate(value) != nil {
		t.Errorf("the graph of nothing does not fit the schema: %s", empty)
	}
}

// Doors that use the standard encoder must write the same graph.
func TestGraphJSONDoesNotDependOnTheEncoder(t *testing.T) {
	g := graphOf(t, `began owner
		model i=0
		call c1 exec confirm kind=taint-escalation ask=q1
		sealed`)
	body, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	var back graph.Graph
	if err := strictjson.UnmarshalKnown(body, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(g, &back); diff != "" {
		t.Errorf("graph through the standard encoder (-want +got):\n%s", diff)
	}
}
