package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// Section is a policy that stands inside the file of a host, among keys that are not
// policy. What is wrong with it is told with its place and its path in that file.
type Section struct {
	Path   []string // from the top of the file to the map that holds the policy
	Keys   []string // the keys of that map that are policy; all others are the host's
	Preset string   // what those keys are written against
}

// Parse is the policy of that section; a section that is absent is an empty policy. The
// file is read as JSON5 where its name ends in .json or .json5, else as YAML.
func (s Section) Parse(file string, src []byte) (*Set, Faults) {
	read := configfile.Parse
	if ext := path.Ext(strings.ReplaceAll(file, `\`, "/")); ext == ".json" || ext == ".json5" {
		read = configfile.ParseJSON5
	}
	root, faults := read(file, src)
	if faults.Err() != nil {
		return nil, public(faults)
	}
	var d configfile.Decoder
	at := root
	for _, key := range s.Path {
		d.Entries(at)
		next := at.Get(key)
		if next.Empty() {
			next = &configfile.Node{Kind: configfile.Map, Pos: at.Pos}
		}
		at = next
	}
	keys := slices.Clone(d.Entries(at))
	if d.Faults.Err() != nil {
		return nil, public(d.Faults)
	}
	own := &configfile.Node{Kind: configfile.Map, Pos: at.Pos, Path: at.Path}
	own.Keys = slices.DeleteFunc(keys, func(k configfile.Key) bool { return !slices.Contains(s.Keys, k.Name) })
	if s.Preset != "" && own.Get("preset") == nil {
		preset := &configfile.Node{Kind: configfile.String, Pos: at.Pos, Path: "preset", Text: s.Preset}
		own.Keys = append(own.Keys, configfile.Key{Name: "preset", Pos: at.Pos, Value: preset})
	}
	return parseTree(own, true)
}
