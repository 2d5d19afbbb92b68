package warrant_test

import "testing"

// A choice among those that the schema lists is said where its word means the act that the owner asks for, of the thing that they name.
func TestAChoiceThatIsTheActIsSaid(t *testing.T) {
	write := define("issue_write", "Change an issue.", `"issue":{"type":"string"},"state":{"type":"string","enum":["open","closed"]},"label":{"type":"string"}`)
	for _, tt := range []struct {
		said, args string
		asked      bool
	}{
		{"Close issue RE-2209", `{"issue":"RE-2209","state":"closed"}`, false},
		{"Schließe das Issue RE-2209", `{"issue":"RE-2209","state":"closed"}`, false},
		{"Close issue RE-2209", `{"issue":"RE-2209","state":"open"}`, true},
		{"Close issue RE-2209", `{"issue":"RE-2210","state":"closed"}`, true},
		{"Label issue RE-2209 as urgent", `{"issue":"RE-2209","state":"closed"}`, true},
		{"Don't close issue RE-2209, label it as urgent", `{"issue":"RE-2209","state":"closed"}`, true},
		{"Did Rolf close issue RE-2209?", `{"issue":"RE-2209","state":"closed"}`, true},
		{"Rolf wants to close issue RE-2209", `{"issue":"RE-2209","state":"closed"}`, true},
	} {
		c := offered(tt.said, write)
		if got := asked(of(c, "issue_write", tt.args)); got != tt.asked {
			t.Errorf("%q: %s asked %v, want %v: %s", tt.said, tt.args, got, tt.asked, of(c, "issue_write", tt.args))
		}
	}
}
