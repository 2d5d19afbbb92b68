package config

import (
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/headless"
)

// sectionReader is the name of the section about the model that reads.
const sectionReader = "reader"

// sectionExtract is that of the model that reads values out of what is kept from agents, where it is another.
const sectionExtract = "extract"

// recordedProvider answers from a file and asks nobody; none is nobody at all, so that nobody is offered again.
const (
	recordedProvider = "recorded"
	noProvider       = "none"
)

// The uses of a model. Each lets something else leave this machine, so each is switched on by itself.
const (
	useWords       = "words"       // what users say, with names of tools, of their parameters and of the choices that these list
	useDefinitions = "definitions" // what tools say of themselves
	useCalls       = "calls"       // arguments of calls
	useContent     = "content"     // results that are kept from agents
)

// programTimeout is what a program may take for a contract. No call waits as long (waitMs); on a busy machine some take more
// than ten seconds to start, and what is ended before it answered has cost the same.
const programTimeout = 30 * time.Second

// readerSection reads the section under its own name. Unlike `auditor` it lets nothing leave but words and names unless
// the file says so: that is what people were told when they said yes.
func (d *decoder) readerSection(n *configfile.Node) Auditor {
	a := Auditor{
		Section: sectionReader, Timeout: 6 * time.Second, PlanTimeout: 12 * time.Second, Cache: 24 * time.Hour,
		MaxConcurrent: 4, PerSession: 500, MaxTokens: 512, PerHour: 240, PerDay: 1200,
	}
	var keyEnv *configfile.Node
	known := append(auditor.Providers(), auditor.Upstream, recordedProvider, noProvider)
	fields := d.modelFields(&a, &keyEnv)
	fields["provider"] = func(n *configfile.Node) {
		if i, ok := d.Choice(n, known...); ok {
			a.Provider = known[i]
		}
	}
	fields["program"] = func(n *configfile.Node) {
		names := headless.Names()
		if i, ok := d.Choice(n, names...); ok {
			a.Program = names[i]
		}
	}
	fields["path"] = func(n *configfile.Node) { a.Path, _ = d.Text(n) }
	fields["listener"] = func(n *configfile.Node) { a.Listener, _ = d.Text(n) }
	fields["answers"] = func(n *configfile.Node) { a.Replay, _ = d.Text(n) }
	fields["perHour"] = d.number(&a.PerHour, 0, 1_000_000)
	fields["perDay"] = d.number(&a.PerDay, 0, 10_000_000)
	fields["models"] = func(n *configfile.Node) { a.Models = d.upstreamModels(n) }
	fields["uses"] = func(n *configfile.Node) { d.uses(n, &a) }
	fields["waitMs"] = func(n *configfile.Node) {
		if v, ok := d.Int(n, 0, 60_000); ok {
			wait := time.Duration(v) * time.Millisecond
			a.wait = &wait
		}
	}
	d.Fields(n, fields, d.formerModel(&a)...)
	return d.completeReader(n, keyEnv, a)
}

func (d *decoder) uses(n *configfile.Node, a *Auditor) {
	all := []string{useWords, useDefinitions, useCalls, useContent}
	var wanted []string
	for _, item := range d.Texts(n) {
		if i, ok := d.Choice(item, all...); ok {
			wanted = append(wanted, all[i])
		}
	}
	if !slices.Contains(wanted, useWords) {
		d.Hintf(n.Pos, "provider: none switches the reader off", "%s has to hold %s", n.Path, useWords)
	}
	has := func(use string) bool { return slices.Contains(wanted, use) }
	a.Definitions, a.Calls, a.Content = has(useDefinitions), has(useCalls), has(useContent)
}

// completeReader checks what belongs together.
func (d *decoder) completeReader(n, keyEnv *configfile.Node, a Auditor) Auditor {
	switch a.Provider {
	case "":
		if n.Get("provider") == nil {
			d.Hintf(n.Pos, "tidemark model finds what is there", "reader needs provider")
		}
	case noProvider:
		return Auditor{Section: sectionReader, Declined: true}
	case recordedProvider:
		if a.Replay == "" {
			d.Errorf(n.Pos, "the provider recorded needs answers, the file that they stand in")
		}
	case auditor.Program:
		d.completeProgram(n, &a)
	}
	if a.Replay != "" && a.Provider != recordedProvider && a.Provider != "" {
		d.Errorf(n.Get("answers").Pos, "answers is for the provider recorded")
	}
	if a.Models != nil && a.Provider != auditor.Upstream && a.Provider != "" {
		d.Errorf(n.Get("models").Pos, "models is for the provider upstream; others have model")
	}
	if a.Provider == auditor.Upstream {
		d.completeUpstream(n, &a)
		return a
	}
	if a.Program == "" && a.Model == "" && a.Provider != "" && n.Get("model") == nil {
		d.Errorf(n.Pos, "reader needs model")
	}
	if a.Key = d.auditorKey(n, keyEnv, &a); a.Missing != "" {
		a.Provider = ""
	}
	return a
}

// completeProgram checks what belongs to the provider program, and gives it the time that it needs to start.
func (d *decoder) completeProgram(n *configfile.Node, a *Auditor) {
	if a.Program == "" && n.Get("program") == nil {
		d.Errorf(n.Pos, "the provider program needs program")
	}
	a.MaxConcurrent = min(a.MaxConcurrent, 2) // each takes a few hundred megabytes
	if n.Get("planTimeoutMs") == nil {
		a.PlanTimeout = programTimeout
	}
}

// completeUpstream checks what belongs to the provider upstream. Which upstreams there are is known when they are read.
func (d *decoder) completeUpstream(n *configfile.Node, a *Auditor) {
	if len(a.Models) == 0 && n.Get("models") == nil {
		d.Hintf(n.Pos, "models: {anthropic: NAME} has a small model of the same provider read", "the provider upstream needs models")
	}
	for _, key := range []string{"apiKeyEnv", "baseUrl", "model", "listener", "record"} {
		if k := n.Get(key); k != nil {
			d.Errorf(k.Pos, "the provider upstream has no %s: it asks where the client asks, with the client's API key", key)
		}
	}
	if a.Calls || a.Definitions || a.Content {
		d.Errorf(n.Get("uses").Pos, "a client's upstream reads words alone")
	}
}

func (d *decoder) upstreamModels(n *configfile.Node) map[string]string {
	out := map[string]string{}
	for _, k := range d.Entries(n) {
		if v, ok := d.Text(k.Value); ok {
			out[k.Name] = v
		}
	}
	return out
}

// lendable are what an upstream may speak whose clients' keys can be told from logins.
var lendable = []string{"openai", "anthropic", "gemini"}

// lends checks that the upstreams that are to read are there.
func (d *decoder) lends(n *configfile.Node, c *Config) {
	models := n.Get("models")
	if models == nil {
		return
	}
	for _, k := range models.Keys {
		i := slices.IndexFunc(c.LLM.Upstreams, func(u Upstream) bool { return u.Name == k.Name })
		if i < 0 {
			d.Hintf(k.Value.Pos, "llm.upstreams names them", "%s: there is no such upstream", k.Value.Path)
		} else if u := c.LLM.Upstreams[i]; !slices.Contains(lendable, u.API) {
			d.Errorf(k.Value.Pos, "%s: clients' keys of %s are not told from logins, so they are not used", k.Value.Path, u.API)
		}
	}
}

// readerHost is the mark of an agent whose own model reads for it.
const readerHost = "host"

// hostReaders are the agents that are marked. One whose program has a shell is none: it could say what its owner asked for.
func (d *decoder) hostReaders(list *configfile.Node) []string {
	var out []string
	if list == nil || list.Kind != configfile.Map {
		return nil
	}
	for _, k := range list.Keys {
		n := k.Value.Get(sectionReader)
		if n == nil {
			continue
		}
		if _, ok := d.Choice(n, readerHost); !ok {
			continue
		}
		if catalogue.Lookup(k.Name) != nil {
			d.Hintf(n.Pos, "tidemark model finds another",
				"%s: %s has a shell, and an agent with a shell may not read for itself", n.Path, k.Name)
			continue
		}
		out = append(out, k.Name)
	}
	return out
}
