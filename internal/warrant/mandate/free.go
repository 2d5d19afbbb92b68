package mandate

// Free says why a call needs no item. What is free is free for all of its slots that are no secret and no danger, which
// are judged apart. The zero Free is bound: an item must hold it.
type Free uint8

// Why a call is free.
const (
	Bound    Free = iota // it is not
	Unargued             // nobody but the owner has said anything
	Hosted               // it is done with the host's own tools, where the agent works
	Looks                // it only looks
)
