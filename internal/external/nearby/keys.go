package nearby

import (
	_ "embed" // the list is part of the program
	"fmt"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

//go:embed keys.json
var keysFile []byte

// Key is a service that a key in the environment is for. Addresses are ours: a variable that names one may have been
// set by a repository.
type Key struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Env      string `json:"env"`
	Provider string `json:"provider"` // as policy files name it
	Base     string `json:"base"`     // empty: the provider's own
	Model    string `json:"model"`    // a small one; empty: somebody has to name it
}

var services = func() []Key {
	var out []Key
	if err := strictjson.UnmarshalKnown(keysFile, &out); err != nil {
		panic(fmt.Sprintf("read services: %v", err)) // a test reads them
	}
	return out
}()

// Keys are the services whose key is set. Nothing is asked, and no key is looked at.
func Keys(getenv func(string) string) []Key {
	var out []Key
	for _, k := range services {
		if getenv(k.Env) != "" {
			out = append(out, k)
		}
	}
	return out
}
