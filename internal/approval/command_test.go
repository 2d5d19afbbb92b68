package approval_test

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/tool"
)

// PRV-18
func TestCommandsOfTheOwner(t *testing.T) {
	type command = approval.Command
	tests := []struct {
		name, message string
		want          command
	}{
		{"approve one tool", ".approve exec bf619df9", command{Verb: approval.Approve, Tool: "exec", Code: "bf619df9"}},
		{"approve all", ".approve all bf619df9", command{Verb: approval.Approve, Tool: "all", Code: "bf619df9"}},
		{"approve for minutes", ".approve exec bf619df9 30", command{Verb: approval.Approve, Tool: "exec", Code: "bf619df9", For: 30 * time.Minute}},
		{"approve for the longest time", ".approve exec bf619df9 1440", command{Verb: approval.Approve, Tool: "exec", Code: "bf619df9", For: 24 * time.Hour}},
		{"approve for minutes and free an argument", ".approve send_email bf619df9 10 to=*@lund.example cc=*", command{
			Verb: approval.Approve, Tool: "send_email", Code: "bf619df9", For: 10 * time.Minute, Where: approval.Where{"to": "*@lund.example", "cc": "*"},
		}},
		{"the tool may be spelled as the host does", ".approve Apply-Patch bf619df9", command{Verb: approval.Approve, Tool: "apply_patch", Code: "bf619df9"}},
		{"the code may be in capitals", ".approve ALL BF619DF9", command{Verb: approval.Approve, Tool: "all", Code: "bf619df9"}},
		{"blanks do not matter", "  .approve\texec   bf619df9 \n", command{Verb: approval.Approve, Tool: "exec", Code: "bf619df9"}},
		{"deny", ".deny bf619df9", command{Verb: approval.Refuse, Code: "bf619df9"}},
		{"reset", ".reset-trust", command{Verb: approval.Reset}},
		{"an empty message is text", "", command{}},
		{"words are text", "please approve exec bf619df9", command{}},
		{"a command inside text is text", "he said .approve exec bf619df9", command{}},
		{"a command with a second line is text", ".approve exec bf619df9\nand more", command{}},
		{"a command below other text is text", "hello\n.approve exec bf619df9", command{}},
		{"a quoted command is text", "> .approve exec bf619df9", command{}},
		{"another dot command is text", ".approved exec bf619df9", command{}},
		{"a command is lower case", ".APPROVE exec bf619df9", command{}},
		{"an endless message is text", ".approve " + strings.Repeat("x", 600) + " bf619df9", command{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := approval.ParseCommand(tt.message)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

// PRV-18
func TestWhatLooksLikeACommandButIsNone(t *testing.T) {
	tests := []struct{ name, message string }{
		{"approve alone", ".approve"},
		{"approve without a code", ".approve exec"},
		{"a code that is too short", ".approve exec bf619df"},
		{"a code that is too long", ".approve exec bf619df90"},
		{"a code that is not hex", ".approve exec bf619dfg"},
		{"the code first", ".approve bf619df9 exec"},
		{"no minutes at all", ".approve exec bf619df9 0"},
		{"negative minutes", ".approve exec bf619df9 -5"},
		{"minutes with a sign", ".approve exec bf619df9 +5"},
		{"half minutes", ".approve exec bf619df9 1.5"},
		{"more than a day", ".approve exec bf619df9 1441"},
		{"more minutes than a number holds", ".approve exec bf619df9 99999999999999999999"},
		{"words after it", ".approve exec bf619df9 5 please"},
		{"deny without a code", ".deny"},
		{"deny with a tool", ".deny exec bf619df9"},
		{"reset with words", ".reset-trust now"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := approval.ParseCommand(tt.message)
			if !errors.Is(err, approval.ErrUsage) || got.Verb != approval.None {
				t.Errorf("got %+v, %v; want no command and ErrUsage", got, err)
			}
		})
	}
}

func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{
		".approve exec bf619df9", ".approve all BF619DF9 30", ".deny bf619df9", ".reset-trust", "hello", "", ".", ". approve",
		".approve a\u2028bf619df9", ".approve exec bf619df9 00001", "\u00a0.reset-trust\u00a0", ".approve \xff bf619df9",
	} {
		f.Add(s)
	}
	code := regexp.MustCompile(`^[0-9a-f]{8}$`)
	f.Fuzz(func(t *testing.T, message string) {
		c, err := approval.ParseCommand(message)
		if err != nil || c.Verb == approval.None {
			if c.Verb != approval.None {
				t.Fatalf("%q: got %+v with %v", message, c, err)
			}
			return
		}
		if !strings.HasPrefix(strings.TrimSpace(message), ".") || strings.Contains(strings.TrimSpace(message), "\n") {
			t.Fatalf("%q is more than a command, but gave %+v", message, c)
		}
		printed := ".reset-trust"
		switch c.Verb {
		case approval.Approve:
			printed = fmt.Sprintf(".approve %s %s", c.Tool, c.Code)
			if c.For > 0 {
				printed += fmt.Sprintf(" %d", c.For/time.Minute)
			}
			if tool.Name(c.Tool) != c.Tool || c.For < 0 || c.For > approval.MaxGrant {
				t.Fatalf("%q: got %+v", message, c)
			}
		case approval.Refuse:
			printed = ".deny " + c.Code
		}
		if c.Verb != approval.Reset && !code.MatchString(c.Code) {
			t.Fatalf("%q: got the code %q", message, c.Code)
		}
		if again, err := approval.ParseCommand(printed); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%q: got %+v, printed and read again %+v, %v", message, c, again, err)
		}
	})
}

// PRV-18
func TestACodeIsEightHexCharactersFromTheGivenRandomness(t *testing.T) {
	got, err := approval.NewCode(strings.NewReader("\xbf\x61\x9d\xf9rest"))
	if err != nil || got != "bf619df9" {
		t.Errorf("got %q, %v; want bf619df9", got, err)
	}
	if got, err := approval.NewCode(strings.NewReader("abc")); err == nil {
		t.Errorf("got %q from too little randomness, want an error", got)
	}
}

// PRV-19
func TestACodeMeansNothingInAnotherSession(t *testing.T) {
	a := approval.HashCode("session", "bf619df9")
	for _, other := range []tool.Digest{
		approval.HashCode("session2", "bf619df9"), approval.HashCode("session", "bf619df8"),
		approval.HashCode("sessionb", "f619df9"), approval.HashCode("", "sessionbf619df9"),
	} {
		if a == other {
			t.Error("two different pairs of session and code have one hash")
		}
	}
	if a != approval.HashCode("session", "bf619df9") {
		t.Error("the same session and code have two hashes")
	}
}
