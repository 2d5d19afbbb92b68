package broker

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// goGet finds out which modules are brought. They are fetched with a copy of the module's own list, so that the session's go finds what it
// will want: go get builds and runs nothing, and fetches from a proxy of modules alone.
func (b *Broker) goGet(f outgoing.Form) (*Deed, error) {
	x := &installing{b: b, manager: "go", argv: f.Argv, lists: map[string][]byte{}, more: slices.Clone(f.Flags)}
	for _, s := range f.Slots {
		x.names = append(x.names, s.Text)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		raw, err := b.read(filepath.Join(b.dir(), name))
		if err != nil && name == "go.mod" {
			return nil, fmt.Errorf("%s: %w: %w", name, err, ErrNotHere)
		}
		if err == nil {
			x.lists[name] = raw
		}
	}
	at := registries("go")
	q := Question{Program: "go", Verb: "get", Host: at[0].host, Port: at[0].port, Packages: slices.Clone(x.names)}
	return &Deed{Question: q, run: x.run}, nil
}

// goFetch has go fetch them into a cache of its own.
func (x *installing) goFetch(dir string) []string {
	env := []string{
		"env", "GOENV=off", "GOFLAGS=-mod=mod -modcacherw", "GOTOOLCHAIN=local", "GOPROXY=https://" + registries("go")[0].host,
		"GOSUMDB=" + cmp.Or(x.b.opts.Sums, registries("go")[1].host), "GOVCS=*:off", "GOPRIVATE=", "GONOPROXY=none", "GONOSUMDB=none",
		"GOINSECURE=", "GOWORK=off", "CGO_ENABLED=0", "GOMODCACHE=" + filepath.Join(dir, brought), "GOPATH=" + filepath.Join(dir, "path"),
		"GOCACHE=" + filepath.Join(dir, "cache"), "go", "-C", dir, "get",
	}
	return slices.Concat(env, x.more, []string{"--"}, x.names)
}

// goOffline has the session's go take what was fetched, and look nowhere else. Their sums were looked up where they were fetched.
func goOffline(shown string) []string {
	return []string{
		"GOPROXY=file://" + strings.TrimSuffix(shown, "/") + "/cache/download", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOVCS=*:off",
		"GONOPROXY=none",
	}
}
