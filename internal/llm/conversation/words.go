package conversation

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
		{Begin: "<local-command-stdout>", End: "</local-command-stdout>", Result: true},
		{Begin: "<local-command-caveat>", End: "</local-command-caveat>"},
		{Begin: "<command-message>", End: "</command-message>"},
		{Begin: "<bash-stdout>", End: "</bash-stdout>", Result: true},
		{Begin: "<bash-stderr>", End: "</bash-stderr>", Result: true},
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
	summary string // and something that a model wrote, with what stands around it
}

// divide tells the user's words from what a harness put beside them. What is enclosed may
// hold marks of its own, written by anybody: so the words are what stands before the first
// mark and after the last.
func divide(text, agent string, markers []Marker) split {
	first, last, open := len(text), 0, false
	var out split
	for i := range markers {
		m := &markers[i]
		at := strings.Index(text, m.Begin)
		if at < 0 || m.Agent != "" && m.Agent != agent {
			continue
		}
		first = min(first, at)
		end := -1
		if m.End != "" {
			end = strings.LastIndex(text, m.End)
		}
		if end < strings.LastIndex(text, m.Begin) {
			open = true // it reaches to the end of the text
		}
		last = max(last, end+len(m.End))
		out.harness = out.harness || !m.Summary && !m.Result
		out.result = out.result || m.Result
		if m.Summary {
			out.summary = "from here"
		}
	}
	if first == len(text) {
		return split{words: trimmed(text)}
	}
	if open || last < first {
		last = len(text)
	}
	if out.summary != "" {
		out.summary = text[first:last]
	}
	out.words = trimmed(text[:first] + "\n" + text[last:])
	return out
}

func trimmed(s string) string { return strings.TrimSpace(s) }
