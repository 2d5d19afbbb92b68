package verifier

import (
	"errors"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/outbound"
	"github.com/tidemark/tidemark/internal/source"
	"github.com/tidemark/tidemark/tool"
)

// reader turns a section of the file into a Config or an Override.
type reader struct {
	*source.Decoder
	env        func(string) (string, bool)
	production bool
}

// Decode reads the verifier's section. Faults go to d, all of them; where one of them is
// an error the Config must not be used. No section is a verifier that is off.
func Decode(d *source.Decoder, n *source.Node, env func(string) (string, bool), production bool) *Config {
	c := &Config{}
	if n.Empty() {
		return c
	}
	r := &reader{d, env, production}
	r.Fields(n, map[string]func(*source.Node){
		"enabled":      func(n *source.Node) { c.Enabled, _ = r.Bool(n) },
		"scope":        func(n *source.Node) { c.Scope = r.scope(n) },
		"failMode":     func(n *source.Node) { c.FailMode = r.failMode(n) },
		"webhook":      func(n *source.Node) { c.Webhook = r.webhook(n) },
		"telegram":     func(n *source.Node) { c.Telegram = r.telegram(n) },
		"cacheSeconds": func(n *source.Node) { c.Cache = r.seconds(n, 0, int64(MaxCache/time.Second)) },
	})
	switch {
	case n.Kind != source.Map:
	case n.Get("enabled") == nil:
		r.Hintf(n.Pos, "write enabled: true or enabled: false", "%s does not say whether it is enabled", n.Path)
	case c.Enabled && c.Webhook == nil && (c.Telegram == nil || !c.Telegram.Enabled):
		r.nobody(n.Get("enabled"))
	}
	return c
}

// DecodeAgent reads what one agent has on top of the file's section, which must have been
// read before. What would loosen the file's is reported as a warning, and New ignores it.
func DecodeAgent(d *source.Decoder, n *source.Node, file *Config, env func(string) (string, bool), production bool) Override {
	var a Override
	if n.Empty() {
		return a
	}
	r := &reader{d, env, production}
	r.Fields(n, map[string]func(*source.Node){
		"enabled":  func(n *source.Node) { a.Enabled = r.choice(n, file.Enabled) },
		"scope":    func(n *source.Node) { a.Scope = r.scope(n); r.narrows(n.Get("exclude"), file) },
		"failMode": func(n *source.Node) { a.FailMode = r.agentFailMode(n, file) },
		"webhook":  func(n *source.Node) { a.Webhook = r.webhook(n) },
		"telegram": func(n *source.Node) { a.Telegram = r.agentTelegram(n, file) },
		"cacheSeconds": func(n *source.Node) {
			keep := r.seconds(n, 0, int64(MaxCache/time.Second))
			a.Cache = &keep
			if keep > file.Cache {
				r.loosens(n, file.Cache.String())
			}
		},
	})
	e := n.Get("enabled")
	switch {
	case n.Kind != source.Map:
	case e == nil && !file.Enabled:
		r.Hintf(n.Pos, "write enabled: true or enabled: false", "%s does not say whether it is enabled, and the file's is not", n.Path)
	case e != nil && a.on(file) && a.Webhook == nil && file.Webhook == nil && !a.telegram(file):
		r.nobody(e)
	}
	return a
}

func (r *reader) nobody(n *source.Node) {
	r.Hintf(n.Pos, "configure webhook or telegram", "%s is true, but there is nobody to ask", n.Path)
}

// loosens reports an agent's entry that has no effect.
func (r *reader) loosens(n *source.Node, stays string) {
	r.Warnf(n.Pos, "%s would loosen the verifier of the file: an agent can only tighten it, %s stays", n.Path, stays)
}

// choice is an agent's switch; on in the file stays on.
func (r *reader) choice(n *source.Node, file bool) *bool {
	v, ok := r.Bool(n)
	if !ok {
		return nil
	}
	if file && !v {
		r.loosens(n, "true")
	}
	return &v
}

func (r *reader) failMode(n *source.Node) FailMode {
	modes := []FailMode{Deny, Allow}
	if i, ok := r.Choice(n, string(Deny), string(Allow)); ok {
		return modes[i]
	}
	return Deny
}

func (r *reader) agentFailMode(n *source.Node, file *Config) FailMode {
	m := r.failMode(n)
	if m == Allow && file.FailMode != Allow {
		r.loosens(n, string(Deny))
	}
	return m
}

func (r *reader) scope(n *source.Node) Scope {
	var s Scope
	r.Fields(n, map[string]func(*source.Node){
		"include": func(n *source.Node) { s.Include = r.tools(n) },
		"exclude": func(n *source.Node) { s.Exclude = r.tools(n) },
	})
	if in, ex := n.Get("include"), n.Get("exclude"); in != nil && ex != nil {
		r.Hintf(n.Pos, "keep one of them", "%s has both include and exclude", n.Path)
	}
	return s
}

// tools are names. An empty list is a fault: include would verify nothing, and whoever
// wants that has enabled.
func (r *reader) tools(n *source.Node) []string {
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
func (r *reader) narrows(exclude *source.Node, file *Config) {
	if exclude == nil || !file.Enabled {
		return
	}
	covered := newScope(file.Scope)
	for _, name := range slices.Concat(exclude.List, []*source.Node{exclude}) {
		if name.Kind == source.String && covered.covers(tool.Name(name.Text)) {
			r.loosens(name, "the file's scope")
		}
	}
}

func (r *reader) seconds(n *source.Node, low, high int64) time.Duration {
	v, _ := r.Int(n, low, high)
	return time.Duration(v) * time.Second
}

func (r *reader) webhook(n *source.Node) *WebhookConfig {
	w := &WebhookConfig{Timeout: DefaultWebhookTimeout}
	r.Fields(n, map[string]func(*source.Node){
		"url":     func(n *source.Node) { w.URL = r.address(n) },
		"timeout": func(n *source.Node) { w.Timeout = r.seconds(n, 1, 600) },
		"headers": func(n *source.Node) { w.Headers = r.headers(n) },
		"secret":  func(n *source.Node) { w.Secret = r.signing(n) },
	})
	if n.Get("url") == nil && (n.Empty() || n.Kind == source.Map) {
		r.Errorf(n.Pos, "%s needs url", n.Path)
	}
	return w
}

// address is an https URL; http only where production is not meant.
func (r *reader) address(n *source.Node) string {
	v, ok := r.Text(n)
	if !ok {
		return ""
	}
	u, err := outbound.URL(v)
	switch {
	case err != nil:
		r.Hintf(n.Pos, "write it as https://host/path", "%s: %v", n.Path, err)
	case u.Scheme == "http" && r.production:
		r.Hintf(n.Pos, "use https", "%s is not encrypted: a deny could be made an allow on the way", n.Path)
	case u.Scheme == "http":
		r.Warnf(n.Pos, "%s is not encrypted: a deny could be made an allow on the way; production refuses it", n.Path)
	}
	return v
}

func (r *reader) headers(n *source.Node) map[string]Secret {
	out := map[string]Secret{}
	for _, k := range r.Entries(n) {
		v, ok := r.expanded(k.Value)
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
func (r *reader) signing(n *source.Node) Secret {
	v, ok := r.secret(n)
	if ok && len(v) < minSecret {
		r.Errorf(n.Pos, "%s has fewer than %d characters", n.Path, minSecret)
	}
	return v
}

// secret is a text that should not stand in the file itself.
func (r *reader) secret(n *source.Node) (Secret, bool) {
	v, ok := r.expanded(n)
	if _, refs, _ := expand(n.Text, r.env); ok && refs == 0 {
		r.Warnf(n.Pos, "%s stands in the file itself: better ${NAME}, and the value in the environment", n.Path)
	}
	return v, ok
}

// expanded is a text with its references to the environment replaced.
func (r *reader) expanded(n *source.Node) (Secret, bool) {
	text, ok := r.Text(n)
	if !ok {
		return "", false
	}
	v, _, slips := expand(text, r.env)
	for _, s := range slips {
		hint := "set it before starting"
		if errors.Is(s.err, errDollar) {
			hint = "write ${NAME} for a variable, $$ for a dollar sign"
		}
		r.Hintf(n.At(1, s.at), hint, "%s: %v", n.Path, s.err)
	}
	return Secret(v), len(slips) == 0
}
