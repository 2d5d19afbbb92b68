package httpapi_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/httpapi"
)

// operations visits every operation of the document.
func (d *document) operations(visit func(method, path string, op map[string]any)) {
	for path, item := range object(d.raw, "paths") {
		for method, op := range item.(map[string]any) {
			visit(strings.ToUpper(method), path, op.(map[string]any))
		}
	}
}

func TestEveryRouteIsInTheDocument(t *testing.T) {
	w := open(t, "")
	var documented []string
	w.doc.operations(func(method, path string, _ map[string]any) { documented = append(documented, method+" "+path) })
	served := slices.DeleteFunc(w.api.Patterns(), func(p string) bool { return p == "POST /v1/hooks/{hook}" }) // says 404
	slices.Sort(documented)
	slices.Sort(served)
	if diff := cmp.Diff(served, documented); diff != "" {
		t.Errorf("served (-) and documented (+) routes differ:\n%s", diff)
	}
}

func TestEveryDocumentedRouteIsServed(t *testing.T) {
	w := open(t, "")
	names := regexp.MustCompile(`\{\w+\}`)
	w.doc.operations(func(method, path string, _ map[string]any) {
		if path == "/v1/approvals/stream" {
			return // it does not end; TestTheQueueIsStreamed reads it
		}
		if path == "/v1/events" {
			path += "?after=bad" // a stream would not end
		}
		a := w.call(adminToken, method, names.ReplaceAllString(path, "x"), "")
		if a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotFound && strings.Contains(a.text("detail"), "nothing at this path") {
			t.Errorf("%s %s is documented and not served", method, path)
		}
	})
}

func TestDocumentIsWellFormed(t *testing.T) {
	w := open(t, "")
	if v, _ := w.doc.raw["openapi"].(string); !strings.HasPrefix(v, "3.1.") {
		t.Errorf("got version %q, want 3.1", v)
	}
	for name := range object(object(w.doc.raw, "components"), "schemas") {
		if _, err := w.doc.schema([]string{"components", "schemas", name}); err != nil {
			t.Errorf("schema %s: %v", name, err)
		}
		if strings.HasPrefix(name, "Huma") {
			t.Errorf("schema %s is the library's, not ours", name)
		}
	}
	ids := map[string]bool{}
	w.doc.operations(func(method, path string, op map[string]any) {
		id, _ := op["operationId"].(string)
		if id == "" || ids[id] || op["summary"] == "" {
			t.Errorf("%s %s: operation id %q is missing or used twice, or it has no summary", method, path, id)
		}
		ids[id] = true
		checkOperation(t, w.doc, method, path, op)
	})
}

func checkOperation(t *testing.T, d *document, method, path string, op map[string]any) {
	t.Helper()
	free := path == "/healthz" || path == "/readyz" || path == "/openapi.json" || path == "/v1/proof" ||
		path == "/v1/join" // the code is in the body, and counts once
	if secured := op["security"] != nil; secured == free {
		t.Errorf("%s %s: got security %v", method, path, op["security"])
	}
	responses := object(op, "responses")
	if responses["200"] == nil || object(object(responses, "default"), "content")["application/problem+json"] == nil {
		t.Errorf("%s %s: no 200, or no problem", method, path)
	}
	for status, r := range responses {
		for media := range object(r, "content") {
			at := []string{"paths", path, strings.ToLower(method), "responses", status, "content", media, "schema"}
			if _, err := d.schema(at); err != nil {
				t.Errorf("%s %s %s: %v", method, path, status, err)
			}
		}
	}
	declared := map[string]bool{}
	params, _ := op["parameters"].([]any)
	for _, p := range params {
		param := p.(map[string]any)
		if param["in"] == "path" {
			declared["{"+param["name"].(string)+"}"] = true
		}
	}
	for _, part := range strings.Split(path, "/") {
		if strings.HasPrefix(part, "{") && !declared[part] {
			t.Errorf("%s %s: %s is not declared", method, path, part)
		}
	}
}

// HOOK-06
func TestHookRequestsFitTheDocument(t *testing.T) {
	w := open(t, "")
	for name, body := range map[string]string{
		"before_tool_call": `{"event":{"toolName":"read","params":{"path":"x"},"toolCallId":"1"},"ctx":{"sessionKey":"s","messageProvider":"discord","hostSecretSauce":1}}`,
		"before_llm_call":  `{"event":{"messages":[{"role":"user","content":"x"}],"systemPrompt":"","model":"m","iteration":0,"tools":["read",{"name":"exec"}],"sessionKey":"s"},"ctx":{"sessionKey":"s"}}`,
		"message_received": `{"event":{"from":"u1","content":"Hello."},"ctx":{"sessionKey":"s","senderIsOwner":true}}`,
	} {
		at := []string{"paths", "/v1/hooks/" + name, "post", "requestBody", "content", "application/json", "schema"}
		if err := w.doc.validate(at, []byte(body)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if a := w.call(agentToken, http.MethodPost, "/v1/hooks/"+name, body); a.status != http.StatusOK {
			t.Errorf("%s: got status %d: %s", name, a.status, a.raw)
		}
	}
}

// fields visits every property of a schema, and of those that stand inside it.
func fields(name string, schema any, visit func(at string, field map[string]any)) {
	for field, v := range object(schema, "properties") {
		at := name + "." + field
		visit(at, v.(map[string]any))
		fields(at, v, visit)
	}
	for _, inner := range []string{"items", "additionalProperties"} {
		if s := object(schema, inner); s != nil {
			fields(name, s, visit)
		}
	}
}

// Whoever writes a client reads the document: every field and parameter says what it is.
func TestEveryFieldOfTheDocumentIsDescribed(t *testing.T) {
	w := open(t, "")
	known := map[string]bool{}
	var missing []string
	say := func(at string, of map[string]any) {
		if text, _ := of["description"].(string); strings.TrimSpace(text) == "" {
			missing = append(missing, at)
		}
	}
	for name, schema := range object(object(w.doc.raw, "components"), "schemas") {
		fields(name, schema, func(at string, field map[string]any) {
			known[at], known["*"+at[strings.LastIndex(at, "."):]] = true, true
			say(at, field)
		})
	}
	w.doc.operations(func(method, path string, op map[string]any) {
		params, _ := op["parameters"].([]any)
		for _, p := range params {
			param := p.(map[string]any)
			say(method+" "+path+" "+param["name"].(string), param)
		}
	})
	slices.Sort(missing)
	for _, at := range missing {
		t.Errorf("%s is not described: a doc tag where its type is one of this package, else a line in fields.txt", at)
	}
	for line := range strings.Lines(httpapi.FieldsText()) {
		name, _, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && !strings.HasPrefix(name, "#") && !known[name] {
			t.Errorf("fields.txt describes %s, which is not in the document", name)
		}
	}
}
