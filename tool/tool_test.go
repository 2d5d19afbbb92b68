package tool_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/tool"
)

func TestNameHasOneSpelling(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"lower case stays", "web_fetch", "web_fetch"},
		{"case is ignored", "Web_Fetch", "web_fetch"},
		{"dashes are underscores", "apply-patch", "apply_patch"},
		{"blanks inside are underscores", "Apply Patch", "apply_patch"},
		{"blanks around are dropped", "  exec\t\n", "exec"},
		{"a no-break space around is dropped", "\u00a0exec", "exec"},
		{"dots and slashes stay", "mcp.server/Tool", "mcp.server/tool"},
		{"nothing stays nothing", "", ""},
		{"blanks alone are nothing", " \t ", ""},
		{"letters beyond ASCII have a lower case too", "ÜBER", "über"},
		{"look-alikes stay different", "ехес", "ехес"},
		{"a kelvin sign is a k", "boo\u212a", "book"},
		{"what is not UTF-8 is marked", "a\xff", "a\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tool.Name(tt.in); got != tt.want {
				t.Errorf("Name(%q): got %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestNameOfAPlainSpellingDoesNotAllocate(t *testing.T) {
	var got string
	if n := testing.AllocsPerRun(100, func() { got = tool.Name("sessions_spawn") }); n != 0 {
		t.Errorf("got %v allocations for %q, want 0", n, got)
	}
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"exec", "Apply-Patch", " \u00a0x\x85", "\x85", "İ", "ǅ", "a\xff-", "\u2028 -", "-", "ſ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := tool.Name(s)
		if twice := tool.Name(once); twice != once {
			t.Fatalf("Name(%q) is %q, and the name of that is %q", s, once, twice)
		}
		if a, b := (tool.Call{Name: s}).Digest(), (tool.Call{Name: once}).Digest(); a != b {
			t.Fatalf("%q and %q are one tool but have two digests", s, once)
		}
	})
}

func TestDigestKnowsWhereTheNameEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// A small alphabet, with the length prefixes themselves in it, finds boundaries.
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\x01\x02\x03")), 0, 4, -1)
		a := tool.Call{Name: text.Draw(t, "name a"), Args: []byte(text.Draw(t, "args a"))}
		b := tool.Call{Name: text.Draw(t, "name b"), Args: []byte(text.Draw(t, "args b"))}
		same := tool.Name(a.Name) == tool.Name(b.Name) && bytes.Equal(a.Args, b.Args)
		if got := a.Digest() == b.Digest(); got != same {
			t.Fatalf("%q %q and %q %q: same digest %v, same call %v", a.Name, a.Args, b.Name, b.Args, got, same)
		}
	})
}

func TestDigestCoversTheExactBytes(t *testing.T) {
	base := tool.Call{Name: "exec", Args: []byte(`{"cmd":"ls"}`)}
	tests := []struct {
		name string
		call tool.Call
		same bool
	}{
		{"another id is the same call", tool.Call{ID: "7", Name: "exec", Args: base.Args}, true},
		{"another spelling of the tool is the same call", tool.Call{Name: "Exec", Args: base.Args}, true},
		{"another tool is another call", tool.Call{Name: "exec2", Args: base.Args}, false},
		{"the same JSON in other bytes is another call", tool.Call{Name: "exec", Args: []byte(`{"cmd": "ls"}`)}, false},
		{"no arguments are another call", tool.Call{Name: "exec"}, false},
		{"the arguments moved into the name are another call", tool.Call{Name: "exec" + string(base.Args)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.call.Digest() == base.Digest(); got != tt.same {
				t.Errorf("same digest: got %v, want %v", got, tt.same)
			}
		})
	}
	if (tool.Call{Name: "x"}).Digest() != (tool.Call{Name: "x", Args: []byte{}}).Digest() {
		t.Error("nil and empty arguments have different digests")
	}
	long := tool.Call{Name: "x", Args: bytes.Repeat([]byte("a"), 5000)}
	input := binary.AppendUvarint(append(binary.AppendUvarint(nil, 1), 'x'), 5000)
	if got, want := long.Digest(), tool.DigestOf(append(input, long.Args...)); got != want {
		t.Errorf("digest of a long call: got %s, want %s", got, want)
	}
}

func TestDigestTextRoundTrip(t *testing.T) {
	want := tool.DigestOf([]byte("x"))
	text, err := want.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var got tool.Digest
	if err := got.UnmarshalText(text); err != nil || got != want {
		t.Errorf("read back: got %s, %v; want %s", got, err, want)
	}
	bad := append([]byte("zz"), text[2:]...)
	for _, in := range [][]byte{nil, text[:10], append(text, '0'), bad} {
		if err := got.UnmarshalText(in); err == nil {
			t.Errorf("UnmarshalText(%q): got no error", in)
		}
	}
}
