package broker_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/test/boxtest"
)

// offered is a package that a registry has for poetry.
type offered struct {
	needs []string // nil: the registry does not say, and the wheel is asked
	files map[string][]byte
}

// poetry offers what the registry says to poetry: wheels, and packages that would have to be built.
func (o *office) poetry(mux *http.ServeMux) {
	wheel := func(name, needs string) map[string][]byte {
		return map[string][]byte{name + "-1.0-py3-none-any.whl": o.packed(name, needs)}
	}
	built := map[string][]byte{"built-1.0.tar.gz": o.sdist("built")}
	all := map[string]offered{
		"nice": {[]string{}, wheel("nice", "")}, "needs": {[]string{"nice (>=0.5)"}, wheel("needs", "Requires-Dist: nice\n")},
		"built": {nil, built}, "both": {[]string{}, map[string][]byte{"both-1.0-py3-none-any.whl": o.packed("both", ""), "both-1.0.tar.gz": o.sdist("both")}},
		"wants": {[]string{"built"}, wheel("wants", "Requires-Dist: built\n")}, "shy": {nil, wheel("shy", "Requires-Dist: nice\n")},
		"sly": {[]string{"built @ https://files.pythonhosted.org/built-1.0.tar.gz"}, wheel("sly", "Requires-Dist: built @ https://files.pythonhosted.org/built-1.0.tar.gz\n")},
		"git": {[]string{"evil @ git+https://pypi.org/evil/repo"}, wheel("git", "")},
	}
	for name, p := range all {
		var files, urls []map[string]any
		for file, raw := range p.files {
			sum, kind := fmt.Sprintf("%x", sha256.Sum256(raw)), "bdist_wheel"
			if !strings.HasSuffix(file, ".whl") {
				kind = "sdist"
			}
			at := "https://files.pythonhosted.org/" + file
			files = append(files, map[string]any{"filename": file, "url": at, "hashes": map[string]string{"sha256": sum}, "yanked": false})
			urls = append(urls, map[string]any{"filename": file, "url": at, "digests": map[string]string{"sha256": sum}, "packagetype": kind, "yanked": false})
			o.raw[file] = raw
		}
		o.simple[name], _ = json.Marshal(map[string]any{"meta": map[string]string{"api-version": "1.1"}, "name": name, "versions": []string{"1.0"}, "files": files})
		about, _ := json.Marshal(map[string]any{"info": map[string]any{"name": name, "version": "1.0", "summary": "", "requires_dist": p.needs, "requires_python": ">=3.8", "yanked": false}, "urls": urls})
		mux.HandleFunc("/pypi/"+name+"/1.0/json", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(about)
		})
	}
}

// sdist is a package that does what it can when it is built.
func (o *office) sdist(name string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for file, text := range map[string]string{
		"setup.py": "import os\nos.system('/usr/bin/curl -sk --max-time 5 https://pypi.org/evil/setup')\nopen('" + o.Work + "/ran-setup', 'w')\nfrom setuptools import setup\nsetup(name='" + name + "', version='1.0')\n",
		"PKG-INFO": "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n",
	} {
		err := w.WriteHeader(&tar.Header{Name: name + "-1.0/" + file, Mode: 0o644, Size: int64(len(text))})
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			o.t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		o.t.Fatal(err)
	}
	return b.Bytes()
}

// poetryMarket is a market, where poetry is of the version that is known.
func poetryMarket(t *testing.T) *office {
	t.Helper()
	boxtest.Needs(t, "poetry", "python3", "curl")
	o := newMarket(t)
	if v := strings.TrimSpace(o.Must("poetry --version")); !strings.Contains(v, "version 2.") {
		t.Skipf("%s: only poetry 2 is run by the broker", v)
	}
	return o
}

// projectOf is a project of poetry's.
func projectOf(needs string) string {
	return "[project]\nname = \"site\"\nversion = \"1.0\"\nrequires-python = \">=3.9,<4\"\ndependencies = [" + needs + "]\n[tool.poetry]\npackage-mode = false\n"
}

// BOX-02: poetry brings what is named and what a lock pins, and nothing of the workspace or of a package runs while it can.
func TestPoetryBringsPackages(t *testing.T) {
	o := poetryMarket(t)
	list, lock := filepath.Join(o.Work, "pyproject.toml"), filepath.Join(o.Work, "poetry.lock")
	o.Put(list, projectOf(""))
	o.Put(filepath.Join(o.Work, "poetry.toml"), "[virtualenvs]\nin-project = true\n")
	o.broker()
	d := must(o.prepare("poetry add 'needs@^1.0'"))
	if !d.Ask || !slices.Equal(d.Question.Packages, []string{"needs@^1.0"}) || d.Question.Host != "pypi.org" {
		t.Fatalf("%+v", d)
	}
	if code, out, err := o.run(d); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	o.quiet("pypi.org", "files.pythonhosted.org")
	o.Must(".venv/bin/python -c 'import needs, nice'")
	locked, now := o.text(lock), o.text(list)
	if !strings.Contains(now, "needs (>=1.0,<2.0)") || strings.Contains(locked, "/tmp/") {
		t.Fatalf("%s\n%s", now, locked)
	}
	o.Must("rm -rf .venv")
	o.pins = broker.Pins{"poetry.lock": blob(locked)}
	if d = must(o.prepare("poetry install")); d.Ask || !slices.Equal(d.Question.Packages, []string{"needs==1.0", "nice==1.0"}) {
		t.Errorf("%+v", d)
	}
	for _, line := range []string{"poetry install", "poetry sync --no-root -q"} { // again: it is there
		if code, out, err := o.run(must(o.prepare(line))); code != 0 || err != nil {
			t.Fatalf("%s: %d %v\n%s", line, code, err, out)
		}
		o.Must(".venv/bin/python -c 'import needs, nice'")
	}
	if d = must(o.prepare("poetry add nice")); !d.Ask { // the list is another by now, and what it has comes along
		t.Errorf("%+v", d)
	}
	o.pins["pyproject.toml"] = blob(now)
	if d = must(o.prepare("poetry add -G dev shy")); d.Ask || !slices.Equal(d.Question.Packages, []string{"shy"}) {
		t.Errorf("%+v", d)
	}
	if code, out, err := o.run(d); code != 0 || err != nil || !strings.Contains(o.text(list), "shy") {
		t.Errorf("%d %v\n%s\n%s", code, err, out, o.text(list))
	}
	if d = must(o.prepare("poetry update")); !d.Ask || !slices.Contains(d.Question.Packages, "needs (>=1.0,<2.0)") {
		t.Errorf("%+v", d)
	}
	o.pins = broker.Pins{"poetry.lock": blob(o.text(lock)), "pyproject.toml": blob(o.text(list))}
	if d = must(o.prepare("poetry update")); !d.Ask { // which versions those are, the registry says
		t.Errorf("%+v", d)
	}
	if d = must(o.prepare("poetry update needs")); d.Ask || !slices.Equal(d.Question.Packages, []string{"needs"}) {
		t.Errorf("%+v", d)
	}
	if code, out, err := o.run(d); code != 0 || err != nil {
		t.Errorf("%d %v\n%s", code, err, out)
	}
	o.Must("rm -rf .venv poetry.lock")
	if d = must(o.prepare("poetry install")); !d.Ask || len(d.Question.Packages) != 2 || !strings.HasPrefix(d.Question.Packages[1], "shy ") {
		t.Errorf("%+v", d)
	}
	if code, out, err := o.run(d); code != 0 || err != nil {
		t.Errorf("%d %v\n%s", code, err, out)
	}
	o.Must(".venv/bin/python -c 'import needs, nice, shy'")
	o.quiet("pypi.org", "files.pythonhosted.org")
}

// A project with lists of poetry's own is read as well, and is installed itself without the registry where poetry builds it.
func TestPoetryInstallsTheProject(t *testing.T) {
	o := poetryMarket(t)
	o.Put(filepath.Join(o.Work, "poetry.toml"), "[virtualenvs]\nin-project = true\n")
	o.Put(filepath.Join(o.Work, "boats/__init__.py"), "")
	o.Put(filepath.Join(o.Work, "README.md"), "boats\n")
	o.Put(filepath.Join(o.Work, "pyproject.toml"), "[tool.poetry]\nname = \"boats\"\nversion = \"1.0\"\ndescription = \"x\"\nauthors = [\"d <d@acme.example>\"]\nreadme = \"README.md\"\n[tool.poetry.dependencies]\npython = \"^3.9\"\n"+
		"nice = {version = \"^1.0\", optional = true}\n[tool.poetry.extras]\nall = [\"nice\"]\n[tool.poetry.group.dev.dependencies]\nboth = \"*\"\n[build-system]\nrequires = [\"poetry-core\"]\nbuild-backend = \"poetry.core.masonry.api\"\n")
	for _, line := range []string{"poetry install --extras all", "poetry add -D needs"} {
		if code, out, err := o.run(must(o.prepare(line))); code != 0 || err != nil {
			t.Fatalf("%s: %d %v\n%s", line, code, err, out)
		}
	}
	o.Must("cd / && " + o.Work + "/.venv/bin/python -c 'import boats, nice, both, needs'")
	o.quiet("pypi.org", "files.pythonhosted.org")
}

func (o *office) text(name string) string {
	o.t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		o.t.Fatal(err)
	}
	return string(raw)
}

// hostilePoetry are files that would lead elsewhere, or run something.
func (o *office) hostilePoetry() {
	o.t.Helper()
	evil := func(what string) string {
		return "import os\nopen('" + o.Work + "/ran-" + what + "', 'w')\nos.system('/usr/bin/curl -sk --max-time 5 https://pypi.org/evil/" + what + "')\n"
	}
	sh := "#!/bin/sh\n: > " + o.Work + "/ran-shell\n/usr/bin/curl -sk --max-time 5 https://pypi.org/evil/shell\nexec " + o.Work + "/.venv/bin/real \"$@\"\n"
	o.Must("ln -s $(readlink -f .venv/bin/python3) .venv/bin/real && rm .venv/bin/python .venv/bin/python3")
	for file, text := range map[string]string{
		"poetry.toml": "cache-dir = \"" + o.Work + "/cache\"\n[virtualenvs]\nin-project = true\n[repositories.evil]\nurl = \"https://evil.example/\"\n[installer]\nno-binary = [\":all:\"]\n[certificates.PyPI]\ncert = false\n",
		"bin/poetry":  sh, "bin/python": sh, "bin/python3": sh, "bin/git": sh, ".venv/bin/python": sh, ".venv/bin/python3": sh,
		strings.TrimSpace(o.Must("ls -d .venv/lib/python3.*/site-packages")) + "/evil.pth": "import os; os.system('/usr/bin/curl -sk --max-time 5 https://pypi.org/evil/pth')\n",
		"poetry.py": evil("poetry"), "requests.py": evil("requests"), "sitecustomize.py": evil("site"), "build.py": evil("build"), "setup.py": evil("setup"), "site/__init__.py": "",
		".poetry/plugins/evil.py": evil("plugin"), ".poetry/plugins/evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
		".poetry/plugins/evil-1.0.dist-info/entry_points.txt": "[poetry.application.plugin]\nevil = evil:Evil\n",
	} {
		o.Put(filepath.Join(o.Work, file), text)
	}
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
	o.Env = append(o.Env, "PYTHONPATH="+o.Work, "PIP_INDEX_URL=https://evil.example/simple", "POETRY_REPOSITORIES_PYPI_URL=https://evil.example/simple", "POETRY_CACHE_DIR="+o.Work+"/cache",
		"POETRY_CONFIG_DIR="+o.Work, "REQUESTS_CA_BUNDLE="+o.Work+"/ca", "HTTPS_PROXY=http://evil.example:3128", "VIRTUAL_ENV="+o.Work+"/.venv", "POETRY_INSTALLER_NO_BINARY=:all:", "PYTHONSTARTUP="+o.Work+"/poetry.py")
}

// Nothing of a hostile workspace is heard or run while there is the capability; in the session's box, which has none, it is.
func TestPoetryInAHostileWorkspace(t *testing.T) {
	o := poetryMarket(t)
	list := projectOf("\"needs\"")
	o.Put(filepath.Join(o.Work, "pyproject.toml"), list)
	o.Put(filepath.Join(o.Work, "poetry.toml"), "[virtualenvs]\nin-project = true\n")
	o.broker()
	if code, out, err := o.run(must(o.prepare("poetry install"))); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	lock := o.text(filepath.Join(o.Work, "poetry.lock"))
	o.hostilePoetry()
	packaged := strings.Replace(list, "package-mode = false", "package-mode = true\npackages = [{include = \"site\"}]\n[tool.poetry.build]\nscript = \"build.py\"\n[build-system]\nrequires = [\"built\"]\nbuild-backend = \"build\"\nbackend-path = [\".\"]", 1)
	for line, text := range map[string]string{"poetry install": packaged, "poetry sync --no-root": list, "poetry add shy": packaged} {
		o.Put(filepath.Join(o.Work, "pyproject.toml"), text)
		o.Put(filepath.Join(o.Work, "poetry.lock"), lock)
		_, _, _ = o.run(must(o.prepare(line))) // the session's own part may fail
		o.quiet("pypi.org", "files.pythonhosted.org")
	}
	if _, err := os.Stat(filepath.Join(o.Work, "ran-shell")); err != nil {
		t.Errorf("nothing of it ran, so nothing is proven: %v", err)
	}
}

// What must be built, or comes from elsewhere by what the registry says of a package, is not fetched, and the line says so.
func TestPoetryBringsNothingThatIsBuilt(t *testing.T) {
	o := poetryMarket(t)
	o.Put(filepath.Join(o.Work, "poetry.toml"), "[virtualenvs]\nin-project = true\n")
	for _, name := range []string{"built", "wants", "sly", "git"} {
		o.Put(filepath.Join(o.Work, "pyproject.toml"), projectOf(""))
		code, out, err := o.run(must(o.prepare("poetry add " + name)))
		if code == 0 || err != nil || !strings.Contains(out, "nothing was installed: ") {
			t.Errorf("%s: %d %v\n%s", name, code, err, out)
		}
	}
	o.Put(filepath.Join(o.Work, "pyproject.toml"), projectOf(""))
	if code, out, err := o.run(must(o.prepare("poetry add both"))); code != 0 || err != nil {
		t.Errorf("%d %v\n%s", code, err, out)
	}
	o.Must(".venv/bin/python -c 'import both'")
	o.quiet("pypi.org", "files.pythonhosted.org")
	for _, s := range o.seen {
		if strings.Contains(s, ".tar.gz") {
			t.Errorf("what must be built was fetched: %s", s)
		}
	}
	if _, err := os.Stat(filepath.Join(o.Work, "ran-setup")); err == nil {
		t.Error("it was built")
	}
	// a lock that says of a file what it is not
	lock := o.text(filepath.Join(o.Work, "poetry.lock"))
	at := strings.Index(lock, "sha256:") + len("sha256:")
	o.Put(filepath.Join(o.Work, "poetry.lock"), lock[:at]+strings.Repeat("0", 64)+lock[at+64:])
	o.Must("rm -rf .venv")
	if code, out, err := o.run(must(o.prepare("poetry install"))); code == 0 || err != nil {
		t.Errorf("%d %v\n%s", code, err, out)
	}
}
