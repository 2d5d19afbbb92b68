package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/policy"
)

func TestCommandsAreConfinedUnderThePresetsThatLookAtCalls(t *testing.T) {
	for file, want := range map[string]policy.Confine{
		"":                                 policy.ConfineAuto,
		"preset: strict":                   policy.ConfineAuto,
		"preset: quiet":                    policy.ConfineAuto,
		"preset: classic":                  policy.ConfineOff,
		"preset: paranoid":                 policy.ConfineOff,
		"preset: permissive":               policy.ConfineOff,
		"preset: interactive":              policy.ConfineOff,
		"taintPolicy: {untrusted: ask}":    policy.ConfineOff, // it is judged by levels then
		"confine: off":                     policy.ConfineOff,
		"confine: always":                  policy.ConfineAlways,
		"preset: classic\nconfine: always": policy.ConfineAlways,
	} {
		set, faults := policy.Parse("policy.yaml", []byte(file))
		if err := faults.Err(); err != nil {
			t.Fatalf("%q: %v", file, err)
		}
		if got := set.Settings().Confine; got != want {
			t.Errorf("%q: got %s, want %s", file, got, want)
		}
	}
}

func TestABoxShowsWhatTheFileSays(t *testing.T) {
	set := mustParse(t, `
box:
  write: [~/src/shared]
  read: [~/.config/acme/dev.json]
  hide: [~/clients]
  guard: [deploy/]
  ports: [5432, 6379]
  hosts: [modules.example.com]
  layer: home
`)
	want := policy.Box{
		Write: []string{"~/src/shared"}, Read: []string{"~/.config/acme/dev.json"}, Hide: []string{"~/clients"}, Guard: []string{"deploy/"},
		Ports: []int{5432, 6379}, Hosts: []string{"modules.example.com"}, Layer: "home",
	}
	if diff := cmp.Diff(want, set.Box()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	set.Box().Write[0] = "/"
	if diff := cmp.Diff(want, set.Box()); diff != "" {
		t.Errorf("after somebody wrote to what they were given (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(policy.Box{Layer: "caches"}, policy.Default().Box()); diff != "" {
		t.Errorf("of an empty file (-want +got):\n%s", diff)
	}
}
