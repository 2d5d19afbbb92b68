package warrant

// Balanced is the shipped table.
var Balanced = map[string]Needs{
	"read":    {Act: Entailed, Cargo: Followed, Key: Entailed, Order: Said},
	"tidy":    {Act: Entailed, Object: Agent, Cargo: Followed, Place: Said, Key: Entailed},
	"create":  {Act: Entailed, Aim: Picked, Object: Agent, Cargo: Followed, Place: Said, Key: Entailed},
	"change":  {Act: Entailed, Aim: Picked, Object: Picked, Measure: Agent, Cargo: Followed, Key: Entailed, Place: Said},
	"delete":  {Act: Said, Aim: Picked, Object: Picked, Measure: Agent, Key: Entailed, Place: Said},
	"send":    {Act: Said, Aim: Picked, Object: Agent, Cargo: Followed, Place: Said, Key: Entailed},
	"pay":     {Act: Said, Aim: Picked, Object: Picked, Measure: Agent, Key: Entailed},
	"grant":   {Act: Entailed, Aim: Picked, Object: Picked, Measure: Agent, Key: Entailed},
	"execute": {Act: Said, Aim: Picked, Object: Picked, Order: Entailed, Measure: Agent, Key: Entailed},
	"unknown": {Act: Entailed, Aim: Picked, Object: Picked, Order: Said, Measure: Agent, Key: Entailed},
}
