package httpapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document is the API document as a client reads it. Every response of every test is
// checked against it.
type document struct {
	raw  map[string]any
	comp *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // guarded by mu
}

const documentURL = "http://tidemark.test/openapi.json"

// The document does not depend on what a server was opened with: all worlds share one, which is most of what each would cost.
var shared struct {
	sync.Mutex
	document *document
}

func readDocument(t testing.TB, w *world) *document {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.document == nil {
		shared.document = newDocument(t, w)
	}
	return shared.document
}

func newDocument(t testing.TB, w *world) *document {
	t.Helper()
	a := w.call("", http.MethodGet, "/openapi.json", "")
	if a.status != http.StatusOK {
		t.Fatalf("read /openapi.json: got status %d: %s", a.status, a.raw)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.raw))
	if err != nil {
		t.Fatalf("read /openapi.json: %v", err)
	}
	d := &document{comp: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	d.raw, _ = v.(map[string]any)
	d.comp.AssertFormat()
	if err := d.comp.AddResource(documentURL, v); err != nil {
		t.Fatalf("read /openapi.json: %v", err)
	}
	return d
}

func object(v any, key string) map[string]any {
	m, _ := v.(map[string]any)
	o, _ := m[key].(map[string]any)
	return o
}

// path finds the documented path a request belongs to.
func (d *document) path(escaped string) string {
	paths := object(d.raw, "paths")
	if _, ok := paths[escaped]; ok {
		return escaped
	}
	parts := strings.Split(escaped, "/")
	for p := range paths {
		want := strings.Split(p, "/")
		fits := len(want) == len(parts)
		for i := 0; fits && i < len(want); i++ {
			fits = want[i] == parts[i] || strings.HasPrefix(want[i], "{") && parts[i] != ""
		}
		if fits {
			return p
		}
	}
	return ""
}

// check compares a response with what the document promises.
func (d *document) check(t testing.TB, r *http.Request, a answer) {
	t.Helper()
	path := d.path(r.URL.EscapedPath())
	op := object(object(object(d.raw, "paths"), path), strings.ToLower(r.Method))
	if op == nil { // no such route: there is nothing to compare with but a problem
		if a.status < 400 && r.Method != http.MethodHead {
			t.Errorf("%s %s answers %d and is not in the document", r.Method, r.URL.Path, a.status)
		}
		return
	}
	status := fmt.Sprint(a.status)
	responses := object(op, "responses")
	if responses[status] == nil {
		status = "default"
	}
	media, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	if object(object(responses, status), "content")[media] == nil {
		t.Errorf("%s %s answers %d with %q, which is not in the document", r.Method, path, a.status, media)
		return
	}
	if a.body == nil {
		return
	}
	pointer := []string{"paths", path, strings.ToLower(r.Method), "responses", status, "content", media, "schema"}
	if err := d.validate(pointer, a.raw); err != nil {
		t.Errorf("%s %s: the answer does not fit the document: %v\n%s", r.Method, path, err, a.raw)
	}
}

func (d *document) validate(pointer []string, raw []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	s, err := d.schema(pointer)
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func (d *document) schema(pointer []string) (*jsonschema.Schema, error) {
	var at strings.Builder
	for _, p := range pointer {
		at.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(p)))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[at.String()]; s != nil {
		return s, nil
	}
	s, err := d.comp.Compile(documentURL + "#" + at.String())
	if err == nil {
		d.schemas[at.String()] = s
	}
	return s, err
}
