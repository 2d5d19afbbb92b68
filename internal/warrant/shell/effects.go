package shell

import "strings"

// Effects are what a command does, as far as that can be told before it runs. The zero
// value says that nothing is known of it, not that it does nothing: a program that this
// package does not know has no effect of its own.
type Effects uint16

// The effects.
const (
	NetworkRead  Effects = 1 << iota // it asks another machine for something
	NetworkWrite                     // it carries something to another machine
	FileWrite                        // it makes or changes files
	Mail                             // it reads or sends mail
	Install                          // it installs packages, which run code of their makers
	Destructive                      // it removes or overwrites what may exist only once
	Wrecks                           // it does so far beyond the work at hand: a home, a disk, a database
	Persist                          // it leaves something behind that runs or lets in later
	RunsFetched                      // it runs what came from the network or out of an encoding
	ReadsSecret                      // it reads keys, tokens or passwords
	Privilege                        // it takes more rights than it was given
	BreaksOut                        // it starts a container that is given the machine
	Oversight                        // it touches what watches the agent, or starts an agent that nobody watches
	Unparsed                         // it cannot be read, or names its program only when it runs
	numEffects   = iota
)

// Worst is everything: what is said of a command that cannot be read.
const Worst Effects = 1<<numEffects - 1

// Network is talking to another machine in any way.
const Network = NetworkRead | NetworkWrite | Mail

var effectNames = [numEffects]string{
	"network-read", "network-write", "file-write", "mail", "install", "destructive", "wrecks", "persist",
	"runs-fetched", "reads-secret", "privilege", "breaks-out", "oversight", "unparsed",
}

// Has reports whether any of the effects is among them.
func (e Effects) Has(any Effects) bool { return e&any != 0 }

// Names are the effects by name, in a fixed order.
func (e Effects) Names() []string {
	var out []string
	for i, name := range effectNames {
		if e&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// String is the names, separated by blanks.
func (e Effects) String() string { return strings.Join(e.Names(), " ") }

// EffectNames are the names of all effects.
func EffectNames() []string { return Worst.Names() }

// Named is the effect of that name.
func Named(name string) (Effects, bool) {
	for i, n := range effectNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}
