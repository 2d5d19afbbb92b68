package trust_test

import (
	"encoding/json"
	"testing"

	"github.com/tidemark/tidemark/trust"
)

// PRV-01
func TestLevelsAreOrderedFromSystemToUntrusted(t *testing.T) {
	want := []string{"system", "owner", "local", "shared", "external", "untrusted"}
	for i, l := range trust.Levels() {
		if got := l.String(); got != want[i] {
			t.Errorf("level %d: got %q, want %q", i, got, want[i])
		}
		if got := l.Distrust(); got != i {
			t.Errorf("distrust of %s: got %d, want %d", l, got, i)
		}
		for j, m := range trust.Levels() {
			lessTrusted := trust.Levels()[max(i, j)]
			if got := l.Join(m); got != lessTrusted {
				t.Errorf("%s joined with %s: got %s, want %s", l, m, got, lessTrusted)
			}
		}
	}
}

// PRV-01
func TestZeroValuesAreTheSafeOnes(t *testing.T) {
	var l trust.Label
	if l.Level != trust.Untrusted {
		t.Errorf("zero level: got %s, want untrusted", l.Level)
	}
	if l.Sensitivity != trust.Private {
		t.Errorf("zero sensitivity: got %s, want private", l.Sensitivity)
	}
}

// PRV-01
func TestAnUnknownLevelNameIsAnError(t *testing.T) {
	for _, name := range []string{"", "System", "OWNER", " local", "trusted", "untrusted\n", "5"} {
		if got, err := trust.ParseLevel(name); err == nil || got != trust.Untrusted {
			t.Errorf("ParseLevel(%q): got %s, %v; want untrusted and an error", name, got, err)
		}
		l := trust.System
		if err := l.UnmarshalText([]byte(name)); err == nil || l != trust.System {
			t.Errorf("UnmarshalText(%q): got %s, %v; want an error and no change", name, l, err)
		}
	}
}

func TestAnUnknownSensitivityNameIsAnError(t *testing.T) {
	for _, name := range []string{"", "Public", "SECRET", "confidential", "private "} {
		if got, err := trust.ParseSensitivity(name); err == nil || got != trust.Private {
			t.Errorf("ParseSensitivity(%q): got %s, %v; want private and an error", name, got, err)
		}
		s := trust.Secret
		if err := s.UnmarshalText([]byte(name)); err == nil || s != trust.Secret {
			t.Errorf("UnmarshalText(%q): got %s, %v; want an error and no change", name, s, err)
		}
	}
}

func TestNamesSurviveTheRoundTrip(t *testing.T) {
	for _, l := range trust.Levels() {
		parsed, err := trust.ParseLevel(l.String())
		if err != nil || parsed != l {
			t.Errorf("ParseLevel(%q): got %s, %v", l.String(), parsed, err)
		}
	}
	for s := trust.Public; s <= trust.Secret; s++ {
		parsed, err := trust.ParseSensitivity(s.String())
		if err != nil || parsed != s {
			t.Errorf("ParseSensitivity(%q): got %s, %v", s.String(), parsed, err)
		}
	}
	in := trust.Label{Level: trust.Shared, Sensitivity: trust.Secret}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatalf("encode label: %v", err)
	}
	if want := `{"level":"shared","sensitivity":"secret"}`; string(text) != want {
		t.Errorf("label as JSON: got %s, want %s", text, want)
	}
	var out trust.Label
	if err := json.Unmarshal(text, &out); err != nil || out.Level != in.Level || out.Sensitivity != in.Sensitivity {
		t.Errorf("label read back: got %+v, %v; want %+v", out, err, in)
	}
}

func TestValuesOutsideTheOrderCountAsTheWorst(t *testing.T) {
	for _, l := range []trust.Level{trust.NumLevels, 7, 200, 255} {
		if got := l.String(); got != "untrusted" {
			t.Errorf("name of level %d: got %s, want untrusted", uint8(l), got)
		}
		if got := l.Distrust(); got != trust.Untrusted.Distrust() {
			t.Errorf("distrust of level %d: got %d, want that of untrusted", uint8(l), got)
		}
		if got := l.Join(trust.System); got != trust.Untrusted {
			t.Errorf("level %d joined with system: got %s, want untrusted", uint8(l), got)
		}
		if got := trust.System.Join(l); got != trust.Untrusted {
			t.Errorf("system joined with level %d: got %s, want untrusted", uint8(l), got)
		}
	}
	for _, s := range []trust.Sensitivity{trust.Public - 1, trust.Secret + 1, -128, 127} {
		if got := s.String(); got != "secret" {
			t.Errorf("name of sensitivity %d: got %s, want secret", int8(s), got)
		}
		if got := s.Join(trust.Public); got != trust.Secret {
			t.Errorf("sensitivity %d joined with public: got %s, want secret", int8(s), got)
		}
		if got := trust.Public.Join(s); got != trust.Secret {
			t.Errorf("public joined with sensitivity %d: got %s, want secret", int8(s), got)
		}
	}
}
