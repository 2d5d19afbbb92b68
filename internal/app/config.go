package app

import (
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/datafolder"
)

// FindPaths resolves the data folder and the policy file; see datafolder.Find.
func FindPaths(data, config string) (datafolder.Paths, error) {
	if data == "" {
		var err error
		if data, err = shim.DataFolder(); err != nil {
			return datafolder.Paths{}, err
		}
	}
	return datafolder.Find(data, config)
}
