package event

// Holder is whose a session is: of whoever shows its ticket, or of the process of an agent whose hooks speak in it. The zero Holder
// is nobody's: the session was begun by somebody who asked for no ticket.
type Holder struct {
	Ticket  string `json:"ticket,omitzero"`  // SHA-256 of it, hex: the ticket is nowhere but in the host's memory
	Process string `json:"process,omitzero"` // the agent's, as the server saw it
}

// Nobody reports whether it is nobody's.
func (h Holder) Nobody() bool { return h == Holder{} }

// Claim is what a door knows about somebody who speaks in a session. The zero Claim proves nothing.
type Claim struct {
	Shows   Holder // what they have shown
	Offer   Holder // whose the session is to be, where it begins with this; zero: they did not ask
	Over    Holder // whose place they may take, because that process has ended
	Vouched bool   // they came with a credential of the owner's own, which no agent has
	// Unheld says that words count in a session that is nobody's, as they did before there were tickets.
	Unheld bool
}

// Proves reports whether what was shown is the holder's.
func (c Claim) Proves(has Holder) bool {
	return c.Vouched || has.Ticket != "" && c.Shows.Ticket == has.Ticket || has.Process != "" && c.Shows.Process == has.Process
}
