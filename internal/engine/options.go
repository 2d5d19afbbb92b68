package engine

// DecideOption says how Decide is asked about a call.
type DecideOption func(proposal) proposal // by value: nothing of a call without options outlives it

// Gated is for a call that the host asks about again, here, before it runs it: what is not denied outright is left to that question,
// and this one counts for nothing.
func Gated() DecideOption {
	return func(p proposal) proposal { p.gated = true; return p }
}

// After is for a call that waited until the question about it was answered. A no to that very question stands, though another turn
// may have begun since. No question is no option.
func After(question string) DecideOption {
	return func(p proposal) proposal { p.waited = question; return p }
}

// InDialog is for a call about which, should it be held, the host asks its person in a dialog of its own. The record of the question
// says so; without that, Ran closes none.
func InDialog(host string) DecideOption {
	return func(p proposal) proposal { p.dialog, p.inDialog = host, true; return p }
}

// In is for a door whose host works in a folder, and says which: files that earlier sessions wrote there count.
func In(folder string) DecideOption {
	return func(p proposal) proposal { p.folder = folder; return p }
}

// Boxes is for a door whose host runs a command in a box and nowhere else where it is told to. It names the folder that is worked on;
// no other door is ever told to.
func Boxes(workspace string) DecideOption {
	return func(p proposal) proposal { p.folder, p.boxes = workspace, &boxing{workspace: workspace}; return p }
}

// Brokers is Boxes for a door whose host also has a plain command that leaves run by a broker: with the one capability that it needs,
// and asked for with what it would carry where nobody ordered it.
func Brokers(workspace string) DecideOption {
	return func(p proposal) proposal {
		p.folder, p.boxes = workspace, &boxing{workspace: workspace, brokers: true}
		return p
	}
}

// Carrying is for a door that puts what is kept from the agent into a call, and says what: the call is judged as by an agent that has
// read it, and nothing of its values is told to the agent.
func Carrying(what []Kept) DecideOption {
	return func(p proposal) proposal { p.holds = what; return p }
}

// ResultMayLag lets the caller show the result of the call before it is in the log (decision 39). It is for a door that brings the
// call to its server and shows the result itself. The record of the decision says what the result is expected to bring; a start that
// finds no result counts that, and something that nobody remembers. A result that is worse than expected is written before Observe
// returns. The door flushes soon after.
func ResultMayLag() DecideOption {
	return func(p proposal) proposal { p.mayLag = true; return p }
}

// RecordOption says how what a verb records is written.
type RecordOption func(*recording)

// recording is how what a verb records is written.
type recording struct{ later bool }

// DeferWrite defers writes: what is recorded counts at once, and may be written together with the next record of its session, at the
// latest with that of a decision, before there is a permit, or with Flush. It is for a door that is told everything again with each
// request: what a crash loses comes back as something nobody saw.
func DeferWrite() RecordOption { return func(r *recording) { r.later = true } }

func recordingOf(how []RecordOption) (r recording) {
	for _, o := range how {
		o(&r)
	}
	return r
}
