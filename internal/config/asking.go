package config

import (
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/internal/people/telegram"
)

// Auditor is the `reader` section, which was called `auditor`: the model that reads what users ask for.
type Auditor struct {
	Section       string            // reader or auditor, as the file has it; reader when it has neither
	Provider      string            // one of auditor.Providers, or recorded; "" when there is none
	Program       string            // with the provider program: which one
	Path          string            // of the program, as it was found when it was tried
	Listener      string            // who was agreed to listen at a local address; "" nobody looks
	Models        map[string]string // with the provider upstream: which model reads, by the upstream's name
	Hosts         []string          // agents whose own model reads for them
	Declined      bool              // the file says that no model reads
	Missing       string            // why nobody is asked though the file wants it
	BaseURL       string            // "" is the provider's own
	Model         string
	Key           endpoint.Secret
	Timeout       time.Duration // of one audit, retries included
	PlanTimeout   time.Duration // of drawing up constraints for a task
	MaxConcurrent int
	PerSession    int // audits one session may cost
	PerHour       int // requests of all sessions; 0: as many as there are
	PerDay        int // likewise
	MaxTokens     int
	Cache         time.Duration
	Record        string // file that answers are written to
	Replay        string // file that answers are read from, instead of asking
	PlainHTTP     bool   // the endpoint is not encrypted and not on this machine; the file was warned about
	Calls         bool   // it is asked about calls with their arguments: audits, plans
	Definitions   bool   // it reads definitions of tools
	Content       bool   // it reads single values out of results that are kept from agents
	Contracts     bool   // it reads requests
	ContractWait  time.Duration
	wait          *time.Duration // for that, as the section itself says it; 0: it does not read them
}

// contracts says whether the model reads what the user asks for, and how long a call waits for that. Files from before have a section
// for it.
func (d *decoder) contracts(n *configfile.Node, a *Auditor) {
	any := a.Provider != "" || len(a.Hosts) > 0
	a.Contracts, a.ContractWait = any, 2*time.Second
	if a.Section == sectionReader && any {
		a.ContractWait = 3 * time.Second
	}
	if a.wait != nil {
		if n != nil {
			d.Hintf(n.Pos, "keep reader.waitMs", "contracts and reader.waitMs say the same thing")
		}
		a.Contracts, a.ContractWait = any && *a.wait > 0, max(*a.wait, 1)
		return
	}
	if n == nil {
		return
	}
	d.Fields(n, map[string]func(*configfile.Node){
		"enabled": func(n *configfile.Node) {
			if on, ok := d.Bool(n); ok {
				a.Contracts = on && any
			}
		},
		"waitMs": func(n *configfile.Node) {
			if v, ok := d.Int(n, 1, 60_000); ok {
				a.ContractWait = time.Duration(v) * time.Millisecond
			}
		},
	})
}

// number reads a whole number into a place.
func (d *decoder) number(to *int, low, high int64) func(*configfile.Node) {
	return func(n *configfile.Node) {
		if v, ok := d.Int(n, low, high); ok {
			*to = int(v)
		}
	}
}

// during reads a time into a place.
func (d *decoder) during(to *time.Duration, unit time.Duration, low, high int64) func(*configfile.Node) {
	return func(n *configfile.Node) {
		if v, ok := d.Int(n, low, high); ok {
			*to = time.Duration(v) * unit
		}
	}
}

// auditor reads the section. The key comes from the environment, never from the file.
func (d *decoder) auditor(n *configfile.Node) Auditor {
	a := Auditor{Section: sectionReader}
	if n == nil {
		return a
	}
	a = Auditor{
		Section: "auditor", Provider: "openai", Timeout: 3 * time.Second, PlanTimeout: 15 * time.Second, Cache: 10 * time.Minute,
		MaxConcurrent: 8, PerSession: 500, MaxTokens: 512, Calls: true, Definitions: true,
	}
	var keyEnv *configfile.Node
	fields := d.modelFields(&a, &keyEnv)
	for _, f := range d.formerModel(&a) { // a hint about the section will do
		fields[f.Name] = f.Read
	}
	fields["provider"] = func(n *configfile.Node) {
		if i, ok := d.Choice(n, "openai", "anthropic"); ok {
			a.Provider = [...]string{"openai", "anthropic"}[i]
		}
	}
	fields["replay"] = func(n *configfile.Node) { a.Replay, _ = d.Text(n) }
	d.Fields(n, fields)
	if a.Model == "" && n.Get("model") == nil {
		d.Errorf(n.Pos, "auditor needs model")
	}
	if a.Record != "" && a.Replay != "" {
		d.Errorf(n.Get("replay").Pos, "auditor has either record or replay")
	}
	a.Key = d.auditorKey(n, keyEnv, &a)
	return a
}

// modelFields are those that both names of the section have.
func (d *decoder) modelFields(a *Auditor, keyEnv **configfile.Node) map[string]func(*configfile.Node) {
	return map[string]func(*configfile.Node){
		"baseUrl":   func(n *configfile.Node) { a.BaseURL, a.PlainHTTP = d.endpoint(n) },
		"model":     func(n *configfile.Node) { a.Model, _ = d.Text(n) },
		"apiKeyEnv": func(n *configfile.Node) { *keyEnv = n },
		"timeoutMs": d.during(&a.Timeout, time.Millisecond, 100, 60_000),
		"record":    func(n *configfile.Node) { a.Record, _ = d.Text(n) },
	}
}

// formerModel are settings that files from before have. What they are without a word fits every model that was tried; what a model may
// cost is bounded by perHour and perDay.
func (d *decoder) formerModel(a *Auditor) []configfile.Former {
	return []configfile.Former{
		{Name: "planTimeoutMs", Now: configfile.Nothing, Read: d.during(&a.PlanTimeout, time.Millisecond, 100, 120_000)},
		{Name: "cacheSeconds", Now: configfile.Nothing, Read: d.during(&a.Cache, time.Second, 0, 86_400)},
		{Name: "maxConcurrent", Now: configfile.Nothing, Read: d.number(&a.MaxConcurrent, 1, 256)},
		{Name: "perSession", Now: "perHour and perDay, which hold all sessions", Read: d.number(&a.PerSession, 1, 1_000_000)},
		{Name: "maxTokens", Now: configfile.Nothing, Read: d.number(&a.MaxTokens, 16, 16_384)},
	}
}

// auditorKey finds the key. Only an endpoint the file names itself may do without.
func (d *decoder) auditorKey(n, keyEnv *configfile.Node, a *Auditor) endpoint.Secret {
	name := map[string]string{"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}[a.Provider]
	at := n.Pos
	if keyEnv != nil {
		v, ok := d.Text(keyEnv)
		if !ok {
			return ""
		}
		name, at = v, keyEnv.Pos
	}
	if name == "" {
		return "" // nobody asks for one
	}
	v, set := d.env(name)
	if (!set || v == "") && (keyEnv != nil || a.BaseURL == "") && a.Replay == "" && a.Section == sectionReader {
		a.Missing = "environment variable " + name + ", the key, is not set where the server runs"
		d.Warnf(at, "%s: no model reads until it is", a.Missing)
	} else if (!set || v == "") && (keyEnv != nil || a.BaseURL == "") && a.Replay == "" {
		d.Hintf(at, "set it before starting, or name another with apiKeyEnv",
			"environment variable %s, the %s's key, is not set", name, a.Section)
	}
	return endpoint.Secret(v)
}

// endpoint accepts http too: models run on this machine and beside it. Beyond this
// machine that is worth a warning.
func (d *decoder) endpoint(n *configfile.Node) (address string, plain bool) {
	u, ok := d.url(n)
	if !ok {
		return "", false
	}
	if plain = u.Scheme == "http" && !outbound.Local(u.Hostname()); plain {
		d.Warnf(n.Pos, "%s is not encrypted: the user's words and the auditor's answers can be read and changed on the way", n.Path)
	}
	return n.Text, plain
}

// verifiers reads the verifier's section, the chat in it, and what agents have on top of it.
func (d *decoder) verifiers(root *configfile.Node, c *Config) {
	r := d.reader()
	c.Verifier = verifier.Decode(r, root.Get("verifier"), func(n *configfile.Node) verifier.Chat {
		s := telegram.ReadSettings(r, n)
		c.VerifierChat = s
		return verifier.Chat{Enabled: s.Enabled, Complete: s.Complete(), Timeout: s.Timeout}
	})
	c.VerifierAgents = map[string]verifier.Override{}
	if list := root.Get("agents"); list != nil && list.Kind == configfile.Map {
		for _, k := range list.Keys {
			if n := k.Value.Get("verifier"); n != nil {
				c.VerifierAgents[k.Name] = verifier.DecodeAgent(r, n, c.Verifier)
			}
		}
	}
}

// reader is what sections about others are read with.
func (d *decoder) reader() *endpoint.Reader {
	return &endpoint.Reader{Decoder: &d.Decoder, Env: d.env, Production: d.production()}
}

// production reports whether the environment says that this is no development machine.
func (d *decoder) production() bool {
	for _, name := range []string{"TIDEMARK_ENV", "NODE_ENV"} {
		if v, _ := d.env(name); v == "production" {
			return true
		}
	}
	return false
}

// readExternal reads the sections about the services that the server calls: readers, auditor, verifier, Telegram.
func (d *decoder) readExternal(root *configfile.Node, c *Config) {
	c.Production = d.production()
	c.Auditor = d.auditor(root.Get("auditor"))
	if n := root.Get(sectionReader); n != nil {
		if root.Get("auditor") != nil {
			d.Hintf(n.Pos, "keep reader", "reader and auditor are two names of one section")
		}
		c.Auditor = d.readerSection(n)
		d.lends(n, c)
	}
	if n := root.Get(sectionExtract); n != nil {
		if v := n.Get("waitMs"); v != nil {
			d.Errorf(v.Pos, "%s: nothing waits for what is read out of contents", v.Path)
		}
		c.Extract = d.readerSection(n)
		c.Extract.Section, c.Extract.Content = sectionExtract, true
	}
	c.Auditor.Hosts = d.hostReaders(root.Get("agents"))
	d.contracts(root.Get("contracts"), &c.Auditor)
	d.verifiers(root, c)
	if n := root.Get("telegram"); n != nil {
		c.Telegram = telegram.ReadSettings(d.reader(), n)
	}
	d.oneBot(root, c)
	d.unread(root, c)
}

// unread tells of settings that want a model where none is asked.
func (d *decoder) unread(root *configfile.Node, c *Config) {
	a := &c.Auditor
	if a.Provider == "" && len(a.Hosts) == 0 {
		for _, key := range []string{"caution", "taskPolicy", "contracts"} {
			if n := root.Get(key); n != nil {
				d.Warnf(n.Pos, "%s has no effect: there is no auditor section", key)
			}
		}
		if n := root.Get("taintEscalation").Get("review"); n != nil && n.Text != "human" {
			d.Warnf(n.Pos, "%s: there is no auditor section, so people are asked", n.Path)
		}
		return
	}
	for _, key := range []string{"caution", "taskPolicy"} {
		if n := root.Get(key); n != nil && !a.Calls {
			d.Warnf(n.Pos, "%s has no effect: the reader's uses do not have calls, so no model sees arguments", key)
		}
	}
	if n := root.Get("record").Get("messages"); n != nil && n.Kind == configfile.Bool && !n.Bool {
		d.Errorf(n.Pos, "the model needs the user's own messages: record.messages cannot be false with a section %s", a.Section)
	}
}

// oneBot refuses two chats on one bot: each would take the other's answers away.
func (d *decoder) oneBot(root *configfile.Node, c *Config) {
	v := c.VerifierChat
	if c.Telegram == nil || v == nil || !v.Enabled || c.Telegram.BotToken != v.BotToken || c.Telegram.BotToken == "" {
		return
	}
	if c.Telegram.ChatID != v.ChatID {
		d.Hintf(root.Get("telegram").Pos, "make a second bot, or use one chat for both",
			"telegram and verifier.telegram use one bot in two chats")
	}
}
