package verifier

import (
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/tool"
)

// reader turns a section of the file into a Config or an Override.
type reader struct{ *endpoint.Reader }

// Decode reads the verifier's section. Faults go to d, all of them; where one of them is
// an error the Config must not be used. No section is a verifier that is off. What stands
// under telegram is read by chat.
func Decode(d *endpoint.Reader, n *configfile.Node, chat func(*configfile.Node) Chat) *Config {
	c := &Config{}
	if n.Empty() {
		return c
	}
	r := &reader{d}
	r.Fields(n, map[string]func(*configfile.Node){
		"enabled":  func(n *configfile.Node) { c.Enabled, _ = r.Bool(n) },
		"scope":    func(n *configfile.Node) { c.Scope = r.scope(n) },
		"failMode": func(n *configfile.Node) { c.FailMode = r.failMode(n) },
		"webhook":  func(n *configfile.Node) { c.Webhook = r.webhook(n) },
		"telegram": func(n *configfile.Node) {
			asked := chat(n)
			c.Telegram = &asked
		},
		"cacheSeconds": func(n *configfile.Node) { c.Cache = r.Seconds(n, 0, int64(MaxCache/time.Second)) },
	})
	switch {
	case n.Kind != configfile.Map:
	case n.Get("enabled") == nil:
		r.Hintf(n.Pos, "write enabled: true or enabled: false", "%s does not say whether it is enabled", n.Path)
	case c.Enabled && c.Webhook == nil && (c.Telegram == nil || !c.Telegram.Enabled):
		r.nobody(n.Get("enabled"))
	}
	return c
}

// DecodeAgent reads what one agent has on top of the file's section, which must have been
// read before. What would loosen the file's is reported as a warning, and New ignores it.
func DecodeAgent(d *endpoint.Reader, n *configfile.Node, file *Config) Override {
	var a Override
	if n.Empty() {
		return a
	}
	r := &reader{d}
	r.Fields(n, map[string]func(*configfile.Node){
		"enabled":  func(n *configfile.Node) { a.Enabled = r.choice(n, file.Enabled) },
		"scope":    func(n *configfile.Node) { a.Scope = r.scope(n); r.narrows(n.Get("exclude"), file) },
		"failMode": func(n *configfile.Node) { a.FailMode = r.agentFailMode(n, file) },
		"webhook":  func(n *configfile.Node) { a.Webhook = r.webhook(n) },
		"telegram": func(n *configfile.Node) { a.Telegram = r.agentTelegram(n, file) },
		"cacheSeconds": func(n *configfile.Node) {
			keep := r.Seconds(n, 0, int64(MaxCache/time.Second))
			a.Cache = &keep
			if keep > file.Cache {
				r.loosens(n, file.Cache.String())
			}
		},
	})
	e := n.Get("enabled")
	switch {
	case n.Kind != configfile.Map:
	case e == nil && !file.Enabled:
		r.Hintf(n.Pos, "write enabled: true or enabled: false", "%s does not say whether it is enabled, and the file's is not", n.Path)
	case e != nil && a.on(file) && a.Webhook == nil && file.Webhook == nil && !a.telegram(file):
		r.nobody(e)
	}
	return a
}

func (r *reader) nobody(n *configfile.Node) {
	r.Hintf(n.Pos, "configure webhook or telegram", "%s is true, but there is nobody to ask", n.Path)
}

// agentTelegram is an agent's switch for the file's chat. It has no chat of its own: two
// bots on one token would take each other's answers away.
func (r *reader) agentTelegram(n *configfile.Node, file *Config) *bool {
	var on *bool
	r.Fields(n, map[string]func(*configfile.Node){
		"enabled": func(n *configfile.Node) {
			on = r.choice(n, file.Telegram != nil && file.Telegram.Enabled)
			if on != nil && *on && (file.Telegram == nil || !file.Telegram.Complete) {
				r.Hintf(n.Pos, "give botToken, chatId and allowedUserIds there",
					"%s is true, but the file's telegram section is not complete", n.Path)
			}
		},
	})
	return on
}

// loosens reports an agent's entry that has no effect.
func (r *reader) loosens(n *configfile.Node, stays string) {
	r.Warnf(n.Pos, "%s would loosen the verifier of the file: an agent can only tighten it, %s stays", n.Path, stays)
}

// choice is an agent's switch; on in the file stays on.
func (r *reader) choice(n *configfile.Node, file bool) *bool {
	v, ok := r.Bool(n)
	if !ok {
		return nil
	}
	if file && !v {
		r.loosens(n, "true")
	}
	return &v
}

func (r *reader) failMode(n *configfile.Node) FailMode {
	modes := []FailMode{Deny, Allow}
	if i, ok := r.Choice(n, string(Deny), string(Allow)); ok {
		return modes[i]
	}
	return Deny
}

func (r *reader) agentFailMode(n *configfile.Node, file *Config) FailMode {
	m := r.failMode(n)
	if m == Allow && file.FailMode != Allow {
		r.loosens(n, string(Deny))
	}
	return m
}

func (r *reader) scope(n *configfile.Node) Scope {
	var s Scope
	r.Fields(n, map[string]func(*configfile.Node){
		"include": func(n *configfile.Node) { s.Include = r.tools(n) },
		"exclude": func(n *configfile.Node) { s.Exclude = r.tools(n) },
	})
	if in, ex := n.Get("include"), n.Get("exclude"); in != nil && ex != nil {
		r.Hintf(n.Pos, "keep one of them", "%s has both include and exclude", n.Path)
	}
	return s
}

// tools are names. An empty list is a fault: include would verify nothing, and whoever
// wants that has enabled.
func (r *reader) tools(n *configfile.Node) []string {
	before := len(r.Faults)
	var out []string
	for _, item := range r.Texts(n) {
		if err := checkTool(item.Text); err != nil {
			r.Hintf(item.Pos, "write each tool's whole name; there are no patterns here", "%s is not the name of a tool", item.Path)
			continue
		}
		out = append(out, item.Text)
	}
	if len(out) == 0 && len(r.Faults) == before {
		r.Errorf(n.Pos, "%s names no tool", n.Path)
	}
	return out
}

// narrows warns about a list of tools that an agent excludes and the file verifies.
func (r *reader) narrows(exclude *configfile.Node, file *Config) {
	if exclude == nil || !file.Enabled {
		return
	}
	covered := newScope(file.Scope)
	for _, name := range slices.Concat(exclude.List, []*configfile.Node{exclude}) {
		if name.Kind == configfile.String && covered.covers(tool.Name(name.Text)) {
			r.loosens(name, "the file's scope")
		}
	}
}

func (r *reader) webhook(n *configfile.Node) *WebhookConfig {
	w := &WebhookConfig{Timeout: DefaultWebhookTimeout}
	r.Fields(n, map[string]func(*configfile.Node){
		"url":     func(n *configfile.Node) { w.URL = r.Address(n) },
		"timeout": func(n *configfile.Node) { w.Timeout = r.Seconds(n, 1, 600) },
		"headers": func(n *configfile.Node) { w.Headers = r.headers(n) },
		"secret":  func(n *configfile.Node) { w.Secret = r.signing(n) },
	})
	if n.Get("url") == nil && (n.Empty() || n.Kind == configfile.Map) {
		r.Errorf(n.Pos, "%s needs url", n.Path)
	}
	return w
}

func (r *reader) headers(n *configfile.Node) map[string]endpoint.Secret {
	out := map[string]endpoint.Secret{}
	for _, k := range r.Entries(n) {
		v, ok := r.Expanded(k.Value)
		if !ok {
			continue
		}
		if err := checkHeader(k.Name, string(v)); err != nil {
			r.Errorf(k.Pos, "%s: %v", n.Path, err)
			continue
		}
		out[k.Name] = v
	}
	return out
}

// signing is a secret long enough to sign with.
func (r *reader) signing(n *configfile.Node) endpoint.Secret {
	v, ok := r.Secret(n)
	if ok && len(v) < minSecret {
		r.Errorf(n.Pos, "%s has fewer than %d characters", n.Path, minSecret)
	}
	return v
}
