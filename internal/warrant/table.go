package warrant

// balanced is the shipped table. A kind of slot that a row leaves out needs nothing.
var balanced = [NumDeeds]Needs{
	Read:    {Act: Entailed, Cargo: Followed, Key: Entailed, Order: Said},
	Tidy:    {Act: Delegated, Aim: Picked, Object: Agent, Cargo: Followed, Place: Said, Key: Entailed},
	Create:  {Act: Delegated, Aim: Picked, Object: Agent, Cargo: Followed, Place: Said, Key: Entailed},
	Change:  {Act: Delegated, Aim: Picked, Object: Picked, Measure: Agent, Cargo: Followed, Key: Entailed, Place: Said},
	Delete:  {Act: Said, Aim: Picked, Object: Picked, Measure: Agent, Key: Entailed, Place: Said},
	Send:    {Act: Said, Aim: Picked, Object: Picked, Cargo: Followed, Place: Said, Key: Entailed},
	Pay:     {Act: Said, Aim: Picked, Object: Picked, Measure: Agent, Key: Entailed},
	Grant:   {Act: Entailed, Aim: Picked, Object: Picked, Measure: Agent, Key: Entailed},
	Execute: {Act: Said, Aim: Picked, Object: Picked, Order: Entailed, Measure: Agent, Key: Entailed},
	Unknown: {Act: Entailed, Aim: Picked, Object: Picked, Order: Said, Measure: Agent, Key: Entailed},
}

// Balanced is the least evidence that the shipped table asks for a deed.
func Balanced(d Deed) Needs {
	if d < NumDeeds {
		return balanced[d]
	}
	return balanced[Unknown]
}
