//go:build !windows

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/template"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// programs is a folder with both programs: those of scripts/release where it ran before, else this
// binary under their names.
func programs(t *testing.T) (folder string, static bool) {
	t.Helper()
	built, err := filepath.Abs(filepath.Join("..", "..", "bin"))
	if err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(built, "tidemark")) && exists(filepath.Join(built, "tidemark-hook")) {
		return built, true
	}
	folder = t.TempDir()
	for _, name := range []string{"tidemark", "tidemark-hook"} {
		if err := os.Symlink(os.Args[0], filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return folder, false
}

// sh runs a command line and returns what it printed.
func sh(t *testing.T, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(append(os.Environ(), "TIDEMARK_TEST_MAIN=1"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// What scripts/package makes can be installed: the Debian package into an empty root, the archive by the
// install script, and the image's root file system runs with nothing around it and without root.
func TestWhatIsPackagedCanBeInstalledAndRun(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("no dpkg-deb here")
	}
	folder, static := programs(t)
	dist := t.TempDir()
	if out, err := sh(t, []string{"PROGRAMS=" + folder, "PACK=-Zgzip -z1", "RPM_PACK=w1.gzdio"}, "../../scripts/package", dist); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("parts", func(t *testing.T) {
		if _, err := exec.LookPath("syft"); err != nil || !static {
			t.Skip("it takes syft, which make snapshot installs into a folder for PATH, and the programs of scripts/release")
		}
		held := unpacked(t, theOnly(t, dist, "*.tar.gz"))
		wantParts(t, theOnly(t, dist, "*.sbom.json"), [][]byte{held["tidemark"], held["tidemark-hook"]})
	})
	t.Run("deb", func(t *testing.T) { wantDeb(t, theOnly(t, dist, "*.deb")) })
	t.Run("rpm", func(t *testing.T) {
		if _, err := exec.LookPath("rpmbuild"); err != nil {
			t.Skip("no rpmbuild here: scripts/setup installs it")
		}
		wantRPM(t, theOnly(t, dist, "*.rpm"))
	})
	t.Run("install script", func(t *testing.T) { installFrom(t, theOnly(t, dist, "*.tar.gz")) })
	t.Run("image", func(t *testing.T) {
		if !static || os.Getuid() != 0 {
			t.Skip("it takes the programs of scripts/release, and the right to change the root")
		}
		cmd := exec.CommandContext(t.Context(), "/tidemark", "try", "send_email", `{"to":"eve@evil.example"}`, "--said", "Mail Tom", "--read", "Write to eve@evil.example")
		cmd.Dir, cmd.Env = "/", []string{"TIDEMARK_DATA=/data", "HOME=/data"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: filepath.Join(dist, "image"), Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		if err := os.Chmod(dist, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dist, "image", "data"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dist, "image", "tmp"), 0o777); err != nil {
			t.Fatal(err)
		}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "send_email: ask") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// Where a program is missing that makes one kind of package, the others are made all the same, and it is said.
func TestPackagesAreMadeWithWhatThereIs(t *testing.T) {
	folder := t.TempDir() // what is packed does not matter here, and small things are packed fast
	for _, name := range []string{"tidemark", "tidemark-hook"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\necho tidemark v1.2.3\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, missing := range []string{"rpmbuild", "dpkg-deb"} {
		t.Run("without "+missing, func(t *testing.T) {
			path, dist := pathWithout(t, "rpmbuild", missing), t.TempDir()
			out, err := sh(t, []string{"PROGRAMS=" + folder, "PACK=-Zgzip -z1", "PATH=" + path}, "../../scripts/package", dist)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(out, "there is no "+missing+" here") || !strings.Contains(out, theOnly(t, dist, "*.tar.gz")) {
				t.Errorf("it said\n%s", out)
			}
		})
	}
}

// pathWithout is a PATH with all the programs of this one's but some.
func pathWithout(t *testing.T, missing ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, from := range filepath.SplitList(os.Getenv("PATH")) {
		found, err := os.ReadDir(from)
		if err != nil {
			continue // many a PATH names folders that are not there
		}
		for _, f := range found {
			if !slices.Contains(missing, f.Name()) && !exists(filepath.Join(folder, f.Name())) {
				_ = os.Symlink(filepath.Join(from, f.Name()), filepath.Join(folder, f.Name()))
			}
		}
	}
	return folder
}

// Somebody who has only this repository installs from it.
func TestMakeInstallPutsBothProgramsWhereItIsTold(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make here (Debian: apt-get install make)")
	}
	folder := filepath.Join(t.TempDir(), "programs")
	if out, err := sh(t, nil, "make", "-C", filepath.Join("..", ".."), "install", "BINDIR="+folder); err != nil || !strings.Contains(out, "takes minutes") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"tidemark", "tidemark-hook"} {
		if !exists(filepath.Join(folder, name)) {
			t.Errorf("%s is not there", name)
		}
	}
}

// The profile for AppArmor is for the programs where packages put them, gives them namespaces and takes nothing from them. It is the
// one that releases hold. What parses profiles reads it where that is installed; no kernel of ours has enforced it.
func TestTheProfileForAppArmor(t *testing.T) {
	profile := document(t, "deploy/apparmor/tidemark")
	for _, program := range []string{"tidemark", "tidemark-hook"} {
		if !strings.Contains(profile, "profile "+program+" /usr/bin/"+program+" flags=(unconfined) {\n  userns,\n") {
			t.Errorf("nothing for %s in\n%s", program, profile)
		}
	}
	var release struct {
		NFPMs []struct {
			Contents []struct{ Src, Dst, Type string }
			Scripts  struct{ Postinstall, Preremove string }
		}
	}
	if err := yaml.Unmarshal([]byte(document(t, ".goreleaser.yaml")), &release); err != nil || len(release.NFPMs) != 1 {
		t.Fatalf("%v %+v", err, release)
	}
	packed := release.NFPMs[0]
	if !slices.Contains(packed.Contents, struct{ Src, Dst, Type string }{"deploy/apparmor/tidemark", "/etc/apparmor.d/tidemark", "config|noreplace"}) {
		t.Errorf("releases do not hold it: %+v", packed.Contents)
	}
	for _, script := range []string{packed.Scripts.Postinstall, packed.Scripts.Preremove} {
		if out, err := sh(t, nil, "sh", "-n", filepath.Join("..", "..", script)); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
	if _, err := exec.LookPath("apparmor_parser"); err != nil {
		t.Skip("no apparmor_parser here (Debian: apparmor)")
	}
	if !exists("/etc/apparmor.d/abi/4.0") {
		t.Skip("this apparmor_parser knows no userns: it takes version 4 of AppArmor")
	}
	if out, err := sh(t, nil, "apparmor_parser", "--skip-kernel-load", "--skip-cache", filepath.Join("..", "..", "deploy/apparmor/tidemark")); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// theOnly is the one file of a folder that a pattern is for.
func theOnly(t *testing.T, folder, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: got %v, %v, want one", pattern, found, err)
	}
	return found[0]
}

// wantDeb looks at a Debian package, and installs it into an empty root.
func wantDeb(t *testing.T, file string) {
	t.Helper()
	if out, err := sh(t, nil, "dpkg-deb", "-f", file, "Package", "Version"); err != nil || !strings.Contains(out, "Package: tidemark") {
		t.Errorf("got %s, %v", out, err)
	}
	root := t.TempDir()
	install := []string{"dpkg-deb", "-x", file, root}
	if os.Getuid() == 0 { // as apt does it
		admin := filepath.Join(root, "var/lib/dpkg")
		if err := os.MkdirAll(filepath.Join(admin, "updates"), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(admin, "status"), "")
		install = []string{"dpkg", "--root", root, "--force-script-chrootless", "--log", os.DevNull, "-i", file}
	}
	if out, err := sh(t, nil, install[0], install[1:]...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wantVersion(t, filepath.Join(root, "usr/bin/tidemark"))
	if profile, err := os.ReadFile(filepath.Join(root, "etc/apparmor.d/tidemark")); err != nil || string(profile) != document(t, "deploy/apparmor/tidemark") {
		t.Errorf("the profile for AppArmor: %q, %v", profile, err)
	}
	if out, err := sh(t, nil, "dpkg-deb", "-I", file, "conffiles", "postinst", "prerm"); err != nil || !strings.Contains(out, "/etc/apparmor.d/tidemark") || !strings.Contains(out, "apparmor_parser -r") ||
		!strings.Contains(out, "apparmor_parser -R") {
		t.Errorf("nothing loads the profile: %v\n%s", err, out)
	}
	for _, want := range []string{"usr/bin/tidemark-hook", "usr/share/doc/tidemark/copyright"} {
		if !exists(filepath.Join(root, want)) {
			t.Errorf("%s is missing", want)
		}
	}
}

// wantRPM looks at an RPM as those who get it would, and installs it into an empty root.
func wantRPM(t *testing.T, file string) {
	t.Helper()
	out, err := sh(t, nil, "rpm", "-qp", "--qf", "%{NAME} %{LICENSE} %{ARCH}\n[%{FILENAMES} %{FILEUSERNAME}\n]", file)
	for _, want := range []string{"tidemark Apache-2.0 ", "/usr/bin/tidemark root\n", "/usr/bin/tidemark-hook root\n", "/usr/share/doc/tidemark/copyright root\n", "/etc/apparmor.d/tidemark root\n"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s (%v)", want, out, err)
		}
	}
	if out, err := sh(t, nil, "rpm", "-qp", "--scripts", file); err != nil || !strings.Contains(out, "apparmor_parser -r") || !strings.Contains(out, "apparmor_parser -R") {
		t.Errorf("nothing loads the profile: %v\n%s", err, out)
	}
	if os.Getuid() != 0 {
		t.Skip("to install it takes root")
	}
	root := t.TempDir()
	for _, args := range [][]string{{"--initdb"}, {"--nodeps", "--nosignature", "-i", file}} {
		if out, err := sh(t, nil, "rpm", append([]string{"--root", root}, args...)...); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	wantVersion(t, filepath.Join(root, "usr/bin/tidemark"))
}

func wantVersion(t *testing.T, program string) {
	t.Helper()
	if out, err := sh(t, nil, program, "version"); err != nil || !strings.HasPrefix(out, "tidemark ") || strings.Contains(out, "unknown") {
		t.Errorf("%s version: %v\n%s", program, err, out)
	}
}

// installFrom runs the install script on a release with this archive, and on one that somebody has tampered with.
func installFrom(t *testing.T, packed string) {
	t.Helper()
	release := filepath.Join(t.TempDir(), "download", "v1")
	if err := os.MkdirAll(release, 0o700); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(release, filepath.Base(packed))
	for from, to := range map[string]string{packed: archive, filepath.Join(filepath.Dir(packed), "checksums.txt"): filepath.Join(release, "checksums.txt")} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, to, string(data))
	}
	prefix := t.TempDir()
	env := []string{"PREFIX=" + prefix, "TIDEMARK_RELEASES=file://" + filepath.Dir(filepath.Dir(release))}
	out, err := sh(t, env, "sh", "../../deploy/install.sh", "v1")
	if err != nil || !strings.Contains(out, "tidemark init") {
		t.Fatalf("%v\n%s", err, out)
	}
	wantVersion(t, filepath.Join(prefix, "bin", "tidemark"))
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, archive, string(data)+"more")
	prefix = t.TempDir()
	if out, err := sh(t, append(env, "PREFIX="+prefix), "sh", "../../deploy/install.sh", "v1"); err == nil || !strings.Contains(out, "nothing was installed") || exists(filepath.Join(prefix, "bin")) {
		t.Errorf("a tampered archive: %v\n%s", err, out)
	}
}

// documents are the parts of a YAML file.
func documents(t *testing.T, text string) []any {
	t.Helper()
	dec := yaml.NewDecoder(strings.NewReader(text))
	var out []any
	for {
		var v any
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if v != nil {
			out = append(out, v)
		}
	}
}

// chart is the chart with its own values, some of them changed.
func chart(t *testing.T, change func(values map[string]any)) (text string, values map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(document(t, "deploy/helm/tidemark/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	change(values)
	chart, err := template.New("chart").Funcs(template.FuncMap{
		"indent": func(n int, s string) string {
			return strings.ReplaceAll(strings.TrimRight(strings.Repeat(" ", n)+strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n)), " "), "\t", "")
		},
		"toJson":    func(v any) (string, error) { raw, err := json.Marshal(v); return string(raw), err },
		"sha256sum": func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
	}).Parse(document(t, "deploy/helm/tidemark/templates/tidemark.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := chart.Execute(&out, map[string]any{"Values": values}); err != nil {
		t.Fatal(err)
	}
	return out.String(), values
}

// The chart with its own values is the plain manifests, and what they tell the server is a good file.
func TestTheChartIsTheManifests(t *testing.T) {
	text, values := chart(t, func(map[string]any) {})
	plain, made := documents(t, document(t, "deploy/kubernetes.yaml")), documents(t, text)
	ignore := cmp.FilterPath(func(p cmp.Path) bool {
		last := fmt.Sprint(p.Last())
		return last == `["annotations"]` || last == `["envFrom"]`
	}, cmp.Ignore())
	if diff := cmp.Diff(plain, made, ignore); diff != "" {
		t.Errorf("the chart (-manifests +chart):\n%s", diff)
	}
	policy, _ := values["policy"].(string)
	file := filepath.Join(t.TempDir(), "tidemark.yaml")
	writeFile(t, file, policy)
	if out, errOut, code := command(t, "check", file); code != exitOK {
		t.Errorf("%s%s", out, errOut)
	}
}

// With a database the chart runs several servers, each with a data folder of its own and all with the same key.
func TestTheChartRunsSeveralServers(t *testing.T) {
	text, _ := chart(t, func(values map[string]any) { values["store"] = map[string]any{"secret": "the-log"} })
	kinds := map[string]int{}
	for _, d := range documents(t, text) {
		fields, _ := d.(map[string]any)
		kind := fmt.Sprint(fields["kind"])
		kinds[kind]++
		spec, _ := fields["spec"].(map[string]any)
		if kind == "StatefulSet" && (fmt.Sprint(spec["replicas"]) != "3" || spec["volumeClaimTemplates"] == nil) {
			t.Errorf("the servers: %v", spec)
		}
	}
	want := map[string]int{
		"ServiceAccount": 1, "ConfigMap": 1, "StatefulSet": 1, "PodDisruptionBudget": 1, "Service": 1, "NetworkPolicy": 1,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("what there is (-want +got):\n%s", diff)
	}
	for _, part := range []string{
		"{name: TIDEMARK_STORE, valueFrom: {secretKeyRef: {name: the-log, key: store}}}", "{name: TIDEMARK_SECRETS, value: /etc/tidemark-shared}",
		"secretName: the-log", "{name: shared, mountPath: /etc/tidemark-shared, readOnly: true}",
	} {
		if strings.Count(text, part) != 1 {
			t.Errorf("%q stands there %d times", part, strings.Count(text, part))
		}
	}
}

// The compose file runs three servers that have one log and one key, behind a balancer that knows all of them.
func TestTheComposeFileRunsThreeServers(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Image       string            `yaml:"image"`
			Command     []string          `yaml:"command"`
			Environment map[string]string `yaml:"environment"`
			Volumes     []string          `yaml:"volumes"`
		} `yaml:"services"`
	}
	if err := yaml.Unmarshal([]byte(document(t, "deploy/compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	servers := 0
	balancer := strings.Join(file.Services["balancer"].Command, " ")
	for name, s := range file.Services {
		if !strings.HasPrefix(name, "tidemark-") {
			continue
		}
		servers++
		if !strings.HasPrefix(s.Environment["TIDEMARK_STORE"], "postgres://") || s.Environment["TIDEMARK_SECRETS"] != "/shared" ||
			!strings.Contains(balancer, name+":8417") || !slices.Contains(s.Volumes, "/data") {
			t.Errorf("%s: %+v; the balancer: %s", name, s, balancer)
		}
	}
	if servers != 3 {
		t.Errorf("%d servers", servers)
	}
}

// What runs before a release is built leaves goreleaser's folder alone: it refuses one that is not empty. The manual
// that the archives and packages hold is the one made there.
func TestAReleaseFindsItsFolderEmpty(t *testing.T) {
	var release struct {
		Before struct {
			Hooks []string `yaml:"hooks"`
		} `yaml:"before"`
	}
	text := document(t, ".goreleaser.yaml")
	if err := yaml.Unmarshal([]byte(text), &release); err != nil || len(release.Before.Hooks) != 1 {
		t.Fatalf("got %v, %v, want one hook", release.Before.Hooks, err)
	}
	program, folder, _ := strings.Cut(release.Before.Hooks[0], " ")
	if !exists(filepath.Join("..", "..", program)) || strings.HasPrefix(folder, "dist") {
		t.Errorf("the hook is %q", release.Before.Hooks[0])
	}
	if n := strings.Count(text, `"`+folder+`/*`); n != 2 {
		t.Errorf("%s is packed %d times, want it in archives and packages", folder, n)
	}
}

// goreleaser says in a schema of its own what may stand in its file. It is part of its source, which the Go command keeps where it
// was fetched before.
func TestTheReleaseFitsGoreleasersSchema(t *testing.T) {
	const module = "github.com/goreleaser/goreleaser/v2@v2.14.3"
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	var fetched struct{ Dir string }
	if err != nil || json.Unmarshal(out, &fetched) != nil || fetched.Dir == "" {
		t.Skip("its schema is not here (go mod download " + module + ")")
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(fetched.Dir, "www/docs/static/schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var release any
	if err := yaml.Unmarshal([]byte(document(t, ".goreleaser.yaml")), &release); err != nil {
		t.Fatal(err)
	}
	valid := func(v any) error {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(plain)
	}
	if err := valid(release); err != nil {
		t.Errorf("%v", err)
	}
	if valid(map[string]any{"version": 2, "bulids": []any{}}) == nil {
		t.Error("the schema takes anything")
	}
}
