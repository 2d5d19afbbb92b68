package config

import (
	"path"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/policy"
)

// hostPreset is what the keys of a plugin entry were always written against.
const hostPreset = "classic"

// hostEntries are the names the plugin goes by in an OpenClaw file.
var hostEntries = []string{"tidemark", "provenance"}

// hostPolicy are the keys of the plugin's configuration that are policy.
var hostPolicy = []string{"taintPolicy", "toolOverrides", "approvalTtlSeconds", "maxIterations"}

// hostOwn are the keys that only the plugin itself reads.
var hostOwn = []string{
	"url", "token", "tokenEnv", "tokenFile", "timeoutMs", "failClosed", "approvals", "approvalWaitSeconds",
	"approverToken", "approverTokenEnv", "approverTokenFile", "heartbeatSeconds",
}

// isOpenClaw reports whether a file is OpenClaw's and not ours: by its name, or because
// it is JSON with a plugins section, which ours never has.
func isOpenClaw(file string, src []byte) bool {
	name := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if ext := path.Ext(name); ext != ".json" && ext != ".json5" {
		return false
	}
	if strings.HasPrefix(name, "openclaw.") {
		return true
	}
	root, _ := configfile.ParseJSON5(file, src)
	return root.Get("plugins") != nil
}

// readOpenClaw reads the policy out of the plugin's entry in an OpenClaw file. Every
// place is that in the file as it stands. Of what else we read there is nothing in it.
func (d *decoder) readOpenClaw(file string, src []byte) (*configfile.Node, *policy.Set, configfile.Faults) {
	root, faults := configfile.ParseJSON5(file, src)
	if root == nil {
		return nil, nil, faults
	}
	name, config := d.entry(root)
	if d.Faults.Err() != nil {
		return nil, nil, d.Faults
	}
	fields := map[string]func(*configfile.Node){}
	for _, key := range slices.Concat(hostOwn, hostPolicy) {
		fields[key] = func(*configfile.Node) {}
	}
	d.Fields(config, fields)
	at := policy.Section{Path: []string{"plugins", "entries", name, "config"}, Keys: hostPolicy, Preset: hostPreset}
	set, more := at.Parse(file, src)
	return &configfile.Node{}, set, located(more)
}

// entry finds the plugin's entry and its configuration; one that is absent is empty. The host
// follows $include, we do not: what it would bring in must not be missed silently.
func (d *decoder) entry(root *configfile.Node) (string, *configfile.Node) {
	at := root
	for _, key := range []string{"plugins", "entries"} {
		d.whole(at)
		next := at.Get(key)
		if next.Empty() {
			d.Hintf(at.Pos, "add plugins.entries.tidemark, as tidemark install openclaw does", "this OpenClaw file has no plugins.entries")
			return "", at
		}
		at = next
	}
	d.whole(at)
	var found []configfile.Key
	for _, k := range d.Entries(at) {
		if slices.Contains(hostEntries, k.Name) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 0:
		d.Hintf(at.Pos, "add plugins.entries.tidemark, as tidemark install openclaw does",
			"plugins.entries has neither tidemark nor provenance")
		return "", at
	case 1:
		return found[0].Name, d.pluginConfig(found[0].Value)
	}
	d.Errorf(found[1].Pos, "plugins.entries has both tidemark and provenance: the policy must stand in one of them")
	return "", at
}

func (d *decoder) pluginConfig(n *configfile.Node) *configfile.Node {
	d.whole(n)
	if on := n.Get("enabled"); on != nil && (on.Kind != configfile.Bool || !on.Bool) {
		d.Warnf(on.Pos, "%s: OpenClaw does not run this plugin; the policy is used all the same", on.Path)
	}
	c := n.Get("config")
	if c.Empty() {
		return &configfile.Node{Kind: configfile.Map, Pos: n.Pos, Path: n.Path + ".config"}
	}
	d.whole(c)
	return c
}

// whole refuses a map that is continued in another file.
func (d *decoder) whole(n *configfile.Node) {
	for _, k := range d.Entries(n) {
		if k.Name == "$include" {
			d.Hintf(k.Pos, "write the plugin's entry into this file",
				"$include is not followed here: the policy could stand in the other file")
		}
	}
}

// Provider is one of the places an OpenClaw file gets its models from.
type Provider struct {
	Name string
	URL  string // "": the provider's own
}

// OpenClaw is what an OpenClaw file says about how far it is guarded.
type OpenClaw struct {
	Entry     string // name of the plugin's entry; "": none
	Enabled   bool   // the entry says so
	Providers []Provider
	Replaces  bool // no providers but these can be asked
	Included  bool // parts of it stand in other files, which were not read
}

// ReadOpenClaw looks into an OpenClaw file. It takes what it finds; faults are those of
// the file's form.
func ReadOpenClaw(file string, src []byte) (OpenClaw, configfile.Faults) {
	root, faults := configfile.ParseJSON5(file, src)
	if root == nil {
		return OpenClaw{}, faults
	}
	var o OpenClaw
	entries := root.Get("plugins").Get("entries")
	for _, name := range hostEntries {
		if e := entries.Get(name); e != nil && o.Entry == "" {
			on := e.Get("enabled")
			o.Entry, o.Enabled = name, on != nil && on.Kind == configfile.Bool && on.Bool
		}
	}
	mode := root.Get("models").Get("mode")
	o.Replaces = mode != nil && mode.Text == "replace"
	providers := root.Get("models").Get("providers")
	if providers != nil {
		for _, k := range providers.Keys {
			p := Provider{Name: k.Name}
			if u := k.Value.Get("baseUrl"); u != nil {
				p.URL = u.Text
			}
			o.Providers = append(o.Providers, p)
		}
	}
	for _, n := range []*configfile.Node{root, root.Get("plugins"), entries, root.Get("models"), providers} {
		o.Included = o.Included || n.Get("$include") != nil
	}
	return o, nil
}
