package talk

import "strings"

// Marker encloses what a harness writes into a user's message. Without End it reaches to
// the end of the text; what is never closed does too.
type Marker struct {
	Agent      string // only in this harness's messages; "" in all
	Begin, End string
	// Summary says that a model wrote what is enclosed: an earlier conversation in short.
	// Where nobody saw it being written it is untrusted.
	Summary bool
	// Result says that a tool brought what is enclosed; nobody knows which, so it is
	// untrusted. Anything else is the harness's own, or a file of the workspace.
	Result bool
}

// known are the markers of the harnesses we know.
func known() []Marker {
	return []Marker{
		{Begin: "<system-reminder>", End: "</system-reminder>"},
		{Begin: "<local-command-stdout>", End: "</local-command-stdout>"},
		{Begin: "<local-command-caveat>", End: "</local-command-caveat>"},
		{Begin: "<command-message>", End: "</command-message>"},
		{Begin: "<bash-stdout>", End: "</bash-stdout>"},
		{Begin: "<bash-stderr>", End: "</bash-stderr>"},
		{Begin: "<environment_context>", End: "</environment_context>"},
		{Begin: "<user_instructions>", End: "</user_instructions>"},
		{Begin: "<INSTRUCTIONS>", End: "</INSTRUCTIONS>"},
		{Begin: "<session_context>", End: "</session_context>"},
		{Begin: "<environment_details>", End: "</environment_details>"},
		{Begin: "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", End: "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"},
		{Begin: "<prompt-data>", End: "</prompt-data>", Summary: true},
		{Begin: "<conversation_summary>", End: "</conversation_summary>", Summary: true},
		{Begin: "<compaction_summary>", End: "</compaction_summary>", Summary: true},
		{Begin: "This session is being continued from a previous conversation", Summary: true},
		{Begin: "Another language model started to solve this problem", Summary: true},
	}
}

// split takes apart what a user's text holds.
type split struct {
	words   string // the user's own
	harness bool   // a harness added something
	result  bool   // and something that a tool brought
	summary []string
}

// divide tells the user's words from what a harness put around them.
func divide(text, agent string, markers []Marker) split {
	var out split
	var own strings.Builder
	for text != "" {
		at, m := firstMarker(text, agent, markers)
		if m == nil {
			own.WriteString(text)
			break
		}
		own.WriteString(text[:at])
		inside := text[at+len(m.Begin):]
		text = ""
		if m.End != "" {
			var closed bool
			if inside, text, closed = strings.Cut(inside, m.End); !closed {
				text = ""
			}
		}
		switch {
		case m.Summary:
			out.summary = append(out.summary, inside)
		case m.Result:
			out.result = true
		default:
			out.harness = true
		}
	}
	out.words = strings.TrimSpace(own.String())
	return out
}

func firstMarker(text, agent string, markers []Marker) (int, *Marker) {
	at, found := -1, (*Marker)(nil)
	for i := range markers {
		if markers[i].Agent != "" && markers[i].Agent != agent {
			continue
		}
		if j := strings.Index(text, markers[i].Begin); j >= 0 && (found == nil || j < at) {
			at, found = j, &markers[i]
		}
	}
	return at, found
}

func trimmed(s string) string { return strings.TrimSpace(s) }
