package broker_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha1" // what npm wants
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/test/boxtest"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// market is an office whose others are registries of packages.
func newMarket(t *testing.T) *office {
	t.Helper()
	o := &office{World: boxtest.New(t), t: t, simple: map[string][]byte{}, raw: map[string][]byte{}}
	mux := http.NewServeMux()
	o.npm(mux)
	o.poetry(mux)
	o.pip(mux)
	o.goProxy(mux)
	o.crates(mux)
	o.gems(mux)
	o.others(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.seen = append(o.seen, r.Host+r.URL.Path)
		o.mu.Unlock()
		name, asked := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/simple/")
		switch page, file := o.simple[name], o.raw[path.Base(r.URL.Path)]; {
		case asked && page != nil && r.Header.Get("Accept") == "application/vnd.pypi.simple.v1+json":
			w.Header().Set("Content-Type", r.Header.Get("Accept"))
			_, _ = w.Write(page)
		case file != nil && r.Host == "files.pythonhosted.org":
			_, _ = w.Write(file)
		default:
			mux.ServeHTTP(w, r)
		}
	}), "proxy.golang.org", "sum.golang.org", "registry.npmjs.org", "registry.yarnpkg.com", "index.crates.io", "static.crates.io", "rubygems.org", "pypi.org",
		"files.pythonhosted.org")
	return o
}

const evilJS = `try{require('fs').writeFileSync(process.env.INIT_CWD+'/ran-'+process.argv[2],'')}catch(e){}
require('child_process').spawnSync('/usr/bin/curl',['-sk','--max-time','5','https://registry.npmjs.org/evil/'+process.argv[2]])`

// npm offers a package with scripts that do what they can.
func (o *office) npm(mux *http.ServeMux) {
	scripts := map[string]string{}
	for _, s := range []string{"preinstall", "install", "postinstall", "prepare"} {
		scripts[s] = "node evil.js " + s
	}
	about := map[string]any{"name": "nice", "version": "1.0.0", "scripts": scripts, "hasInstallScript": true}
	raw, err := json.Marshal(about)
	if err != nil {
		o.t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"package/package.json": string(raw), "package/evil.js": evilJS, "package/index.js": "module.exports = 1\n"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			o.t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			o.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		o.t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		o.t.Fatal(err)
	}
	sum := sha1.Sum(b.Bytes()) // as above
	o.tarball = b.Bytes()
	about["dist"] = map[string]string{"tarball": "https://registry.npmjs.org/nice/-/nice-1.0.0.tgz", "shasum": hex.EncodeToString(sum[:])}
	mux.HandleFunc("/nice", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.npm.install-v1+json")
		_ = json.NewEncoder(w).Encode(map[string]any{"name": "nice", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": about}})
	})
	mux.HandleFunc("/nice/-/nice-1.0.0.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b.Bytes()) })
}

// pip offers wheels, one of which needs the other, and a package that would have to be built.
func (o *office) pip(mux *http.ServeMux) {
	o.wheel = o.packed("nice", "")
	for name, raw := range map[string][]byte{"nice": o.wheel, "needs": o.packed("needs", "Requires-Dist: nice\n")} {
		file := name + "-1.0-py3-none-any.whl"
		mux.HandleFunc("/simple/"+name+"/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, `<a href="https://files.pythonhosted.org/%s">%s</a>`, file, file)
		})
		mux.HandleFunc("/"+file, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(raw) })
	}
	mux.HandleFunc("/simple/built/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<a href="https://files.pythonhosted.org/built-1.0.tar.gz">built-1.0.tar.gz</a>`))
	})
}

// packed is a wheel of a module that holds nothing.
func (o *office) packed(name, needs string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	about := name + "-1.0.dist-info/"
	for _, f := range [][2]string{
		{name + ".py", "x = 1\n"}, {about + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n" + needs},
		{about + "WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}, {about + "RECORD", ""},
	} {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			o.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		o.t.Fatal(err)
	}
	return b.Bytes()
}

// quiet fails if anything with the capability was used for something else.
func (o *office) quiet(hosts ...string) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.seen {
		if strings.Contains(s, "/evil") {
			o.t.Errorf("somebody with the capability asked for %s", s)
		}
	}
	for _, n := range o.names {
		if !strings.Contains(" "+strings.Join(hosts, " ")+" ", " "+n+" ") {
			o.t.Errorf("the name %s was asked outside", n)
		}
	}
	if len(o.seen) == 0 {
		o.t.Error("nobody was asked for anything")
	}
}

// A package's scripts run, in the session's box: while there was the capability they did not. What a hostile workspace says of npm is
// not heard while there is.
func TestInstallOfANPMPackage(t *testing.T) {
	boxtest.Needs(t, "npm", "node", "curl")
	o := newMarket(t)
	o.Put(filepath.Join(o.Work, "package.json"), `{"name": "site", "version": "1.0.0", "scripts": {"preinstall": "/usr/bin/curl -sk https://registry.npmjs.org/evil/own"}}`)
	o.Put(filepath.Join(o.Work, ".npmrc"), "registry=https://evil.example/\nscript-shell="+o.Work+"/x.sh\nnode-options=--require "+o.Work+"/x.js\ngit="+o.Work+"/x.sh\n")
	o.Put(filepath.Join(o.Work, "x.js"), evilJS)
	o.Put(filepath.Join(o.Work, "x.sh"), "#!/bin/sh\n/usr/bin/curl -sk https://registry.npmjs.org/evil/shell\nexec /bin/sh \"$@\"\n")
	o.Put(filepath.Join(o.Work, "npm"), "#!/bin/sh\n/usr/bin/curl -sk https://registry.npmjs.org/evil/npm\n")
	d, err := o.prepare("npm install nice")
	if err != nil {
		t.Fatal(err)
	}
	if q := d.Question; q.Host != "registry.npmjs.org" || len(q.Packages) != 1 || q.Packages[0] != "nice" {
		t.Errorf("%+v", q)
	}
	if code, out, err := o.run(d); code == 0 || err != nil { // the session's npm believes the workspace, and finds nothing
		t.Errorf("%d %v\n%s", code, err, out)
	}
	o.quiet("registry.npmjs.org")
	if err := os.Remove(filepath.Join(o.Work, ".npmrc")); err != nil {
		t.Fatal(err)
	}
	if code, out, err := o.run(d); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	o.quiet("registry.npmjs.org")
	if _, err := os.Stat(filepath.Join(o.Work, "node_modules/nice/index.js")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(o.Work, "ran-postinstall")); err != nil {
		t.Errorf("its scripts did not run, so nothing is proven: %v", err)
	}
}

// A wheel is installed; what would have to be built is not even fetched.
func TestInstallOfAPythonPackage(t *testing.T) {
	boxtest.Needs(t, "python3", "curl")
	o := newMarket(t)
	o.Must("/usr/bin/python3 -m pip --version || exit 77; /usr/bin/python3 -m venv .venv && ls .venv/bin/pip")
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/.venv/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
	o.Put(filepath.Join(o.Work, "pip.py"), "import os; os.system('/usr/bin/curl -sk https://pypi.org/evil/pip')\n")
	o.Put(filepath.Join(o.Work, "setup.cfg"), "[global]\nindex-url = https://evil.example/\n")
	d, err := o.prepare("pip install nice")
	if err != nil {
		t.Fatal(err)
	}
	if code, out, err := o.run(d); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	o.Must(".venv/bin/python -c 'import nice'")
	if d, err = o.prepare("pip install built"); err != nil {
		t.Fatal(err)
	}
	if code, out, err := o.run(d); code == 0 && err == nil {
		t.Errorf("it was installed: %s", out)
	}
	o.quiet("pypi.org", "files.pythonhosted.org")
	for _, s := range o.seen {
		if strings.Contains(s, "built-1.0") {
			t.Error("what must be built was fetched")
		}
	}
}

const lockOfNice = `{"name": "site", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "site", "version": "1.0.0", "dependencies": {"nice": "1.0.0"}},
"node_modules/nice": {"version": "1.0.0", "resolved": "https://registry.npmjs.org/nice/-/nice-1.0.0.tgz", "hasInstallScript": true}}}`

// blob is what git calls bytes.
func blob(text string) string {
	sum := sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(text), text))) // as git does
	return hex.EncodeToString(sum[:])
}

// BOX-02: what a lock file pins that is as it was before others had a say is fetched unasked, and one that has changed is asked about. Scripts of
// packages run in the session's box and never with the capability; what comes from elsewhere than the registry is not fetched.
func TestInstallOfWhatALockFilePins(t *testing.T) {
	boxtest.Needs(t, "npm", "node", "curl")
	o := newMarket(t)
	lock := filepath.Join(o.Work, "package-lock.json")
	o.Put(filepath.Join(o.Work, "package.json"), `{"name": "site", "version": "1.0.0", "dependencies": {"nice": "1.0.0"}, "scripts": {"preinstall": "/usr/bin/curl -sk https://registry.npmjs.org/evil/own || true"}}`)
	o.Put(lock, lockOfNice)
	o.pins = broker.Pins{"package-lock.json": blob(lockOfNice)}
	d, err := o.prepare("npm ci")
	if err != nil || d.Ask || len(d.Question.Packages) != 1 || d.Question.Packages[0] != "nice@1.0.0" {
		t.Fatalf("%v %+v", err, d)
	}
	if code, out, err := o.run(d); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	o.quiet("registry.npmjs.org")
	if _, err := os.Stat(filepath.Join(o.Work, "node_modules/nice/index.js")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(o.Work, "ran-postinstall")); err != nil {
		t.Errorf("its scripts did not run, so nothing is proven: %v", err)
	}
	for name, text := range map[string]string{ // each is asked about, or not done at all
		"another version": strings.ReplaceAll(lockOfNice, "1.0.0", "1.0.1"), "a blank more": lockOfNice + " ", "another package": strings.ReplaceAll(lockOfNice, "nice", "worse"),
	} {
		o.Put(lock, text)
		if d, err := o.prepare("npm ci"); err != nil || !d.Ask {
			t.Errorf("%s: %v, and nobody is asked", name, err)
		}
	}
	for name, text := range map[string]string{
		"from elsewhere": strings.ReplaceAll(lockOfNice, "https://registry.npmjs.org/", "https://evil.example/"), "from git": strings.ReplaceAll(lockOfNice, "https://registry", "git+ssh://registry"),
		"no version": strings.ReplaceAll(lockOfNice, `"version": "1.0.0", "resolved"`, `"version": "file:../x", "resolved"`), "nothing": "{}", "no list": "x", "twice": `{"packages": {}, "packages": {}}`,
	} {
		o.Put(lock, text)
		if _, err := o.prepare("npm ci"); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.Put(filepath.Join(o.Home, "kept.json"), lockOfNice)
	if err := errors.Join(os.Remove(lock), os.Symlink(filepath.Join(o.Home, "kept.json"), lock)); err != nil {
		t.Fatal(err)
	}
	if _, err := o.prepare("npm ci"); !errors.Is(err, broker.ErrNotHere) {
		t.Errorf("through a link: %v", err)
	}
}

// The same for a file of requirements.
func TestInstallOfWhatRequirementsPin(t *testing.T) {
	boxtest.Needs(t, "python3", "curl")
	o := newMarket(t)
	o.Must("/usr/bin/python3 -m pip --version || exit 77; /usr/bin/python3 -m venv .venv && ls .venv/bin/pip")
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/.venv/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
	list := "# what we use\nnice==1.0 # the nice one\n"
	o.Put(filepath.Join(o.Work, "requirements/dev.txt"), list)
	o.pins = broker.Pins{"requirements/dev.txt": blob(list), "other.txt": blob(list)}
	d, err := o.prepare("pip install -q -r requirements/dev.txt")
	if err != nil || d.Ask {
		t.Fatalf("%v %+v", err, d)
	}
	if code, out, err := o.run(d); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	o.Must(".venv/bin/python -c 'import nice'")
	o.quiet("pypi.org", "files.pythonhosted.org")
	o.Put(filepath.Join(o.Work, "requirements/dev.txt"), "nice==1.1\n")
	if d, err := o.prepare("pip install -r requirements/dev.txt"); err != nil || !d.Ask {
		t.Errorf("changed: %v", err)
	}
	for _, line := range []string{
		"-r other.txt", "-c other.txt", "--index-url https://evil.example/", "nice @ https://evil.example/x.whl", "git+https://evil.example/x", "-e .", "./x", "nice==1.0 --global-option=x", "nice-1.0.tar.gz", "nice.whl", "nice.zip==1", "nice==1.0; x(1)",
		"nice==1.0 \\\n-r other.txt", "ni\\\nce==1.0", "nice==$V", "nice; sys_platform == 'x' #\n-i https://evil.example/", "nice==1.0 --hash=md5:00", "nice==1.0 --hash=sha256:" + strings.Repeat("0", 64) + " -i https://evil.example/", "\xef\xbb\xbfnice==1.0", "",
	} {
		o.Put(filepath.Join(o.Work, "requirements/dev.txt"), line+"\n")
		if _, err := o.prepare("pip install -r requirements/dev.txt"); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A list that says of some packages only from which version on they will do is asked about by their names, also where it is as it was, and
// brings what they need. What it says of the system counts, and the sums that it has.
func TestInstallOfWhatRequirementsLeaveOpen(t *testing.T) {
	boxtest.Needs(t, "python3", "curl")
	o := newMarket(t)
	o.Must("/usr/bin/python3 -m pip --version || exit 77; /usr/bin/python3 -m venv .venv && ls .venv/bin/pip")
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/.venv/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
	path := filepath.Join(o.Work, "requirements.txt")
	o.Put(filepath.Join(o.Work, "pip.py"), "import os; os.system('/usr/bin/curl -sk https://pypi.org/evil/pip')\n")
	o.Put(filepath.Join(o.Work, "pip.conf"), "[global]\nindex-url = https://evil.example/\n")
	prepared := func(list string) *broker.Deed {
		t.Helper()
		o.Put(path, list)
		o.pins = broker.Pins{"requirements.txt": blob(list)}
		d, err := o.prepare("pip install -q -r requirements.txt")
		if err != nil {
			t.Fatalf("%q: %v", list, err)
		}
		return d
	}
	d := prepared("# what we use\nneeds >= 1.0, <2 # and what it needs\nabsent; sys_platform == 'none' and python_version<\"4\"\n")
	if q := d.Question; !d.Ask || q.Host != "pypi.org" || !slices.Equal(q.Packages, []string{"needs >= 1.0, <2", "absent; sys_platform == 'none' and python_version<\"4\""}) {
		t.Errorf("%v %+v", d.Ask, q)
	}
	if code, out, err := o.run(d); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	o.Must(".venv/bin/python -c 'import needs, nice'")
	o.quiet("pypi.org", "files.pythonhosted.org")
	sum := fmt.Sprintf("%x", sha256.Sum256(o.wheel))
	if d = prepared("nice==1.0 \\\n    --hash=sha256:" + sum + " \\\n    --hash=sha256:" + strings.Repeat("0", 64) + "\n"); d.Ask || d.Question.Packages[0] != "nice==1.0" {
		t.Errorf("%v %+v", d.Ask, d.Question)
	}
	o.Must(".venv/bin/python -m pip uninstall -qy nice")
	if code, out, err := o.run(d); code != 0 || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	o.Must(".venv/bin/python -c 'import nice'")
	if code, _, err := o.run(prepared("nice==1.0 --hash=sha256:" + strings.Repeat("0", 64) + "\n")); code == 0 || err != nil {
		t.Errorf("its sum is another: %d %v", code, err)
	}
	o.quiet("pypi.org", "files.pythonhosted.org")
	// the same bytes in another encoding, which pip would go by
	o.Put(path, "# coding: utf-7\nnice==1.0+AAo.evil\n")
	if d, err := o.prepare("pip install -r requirements.txt"); err == nil {
		if code, _, _ := o.run(d); code == 0 {
			t.Error("it was read as something else")
		}
	}
	o.quiet("pypi.org", "files.pythonhosted.org")
}

// A file of requirements that was changed is no question where each of its lines is one that it had before others had a say, or a package
// that the owner ordered in that version.
func TestWhatVouchesForALineOfRequirements(t *testing.T) {
	dir := t.TempDir()
	path, old := filepath.Join(dir, "requirements.txt"), "nice==1.0\nold==1.0 --hash=sha256:"+strings.Repeat("0", 64)+"\n"
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(old)
	asked := func(v *broker.Vouch, text, line string) bool {
		t.Helper()
		put(text)
		f, ok := outgoing.Plain(line)
		if !ok {
			t.Fatal(line)
		}
		b := broker.New(broker.Options{Want: box.Want{Workspace: dir}, Dir: dir, Pins: broker.Pins{"requirements.txt": blob(old)}, Vouch: v})
		d, err := b.Prepare(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		return d.Ask
	}
	const line = "pip install -r requirements.txt"
	v := broker.Vouching(broker.Pins{"requirements.txt": blob(old)}, dir)
	for text, want := range map[string]bool{
		old: false, "nice==1.0\n": false, "nice==1.1\n": true, "nice==1.0\nnew==2.0\n": true, "nice==1.0\nnice>=1\n": true,
	} {
		if got := asked(v, text, line); got != want {
			t.Errorf("%q: asked %v", text, got)
		}
	}
	for _, said := range []string{"pip install new==2.0", "pip install open", "pip install low>=1", "npm install nice", line} {
		f, _ := outgoing.Plain(said)
		v.Ordered(f)
	}
	for text, want := range map[string]bool{
		"nice==1.0\nnew==2.0\n": false, "new==2.1\n": true, "open\n": true, "low>=1\n": true, "open==1\n": true, "new==2.0; python_version > '3'\n": true,
	} {
		if got := asked(v, text, line); got != want {
			t.Errorf("%q: asked %v", text, got)
		}
	}
	if !asked(nil, "nice==1.0\n", line) {
		t.Error("nothing vouches for it")
	}
	put("worse==1.0\n") // what is not as the repository had it when the box was made vouches for nothing
	if v := broker.Vouching(broker.Pins{"requirements.txt": blob(old)}, dir); !asked(v, "worse==1.0\n", line) {
		t.Error("it vouches for itself")
	}
}
