package config

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
)

// LLM is the `llm` section: the proxy between agents and models.
type LLM struct {
	Upstreams     []Upstream // in the order of the file, the public ones first
	Sender        string     // owner, unknown; "" is by where the server listens
	Require       string     // token, none; "" is by where the server listens
	MaxContext    int64      // bytes of a request
	MaxConcurrent int        // requests at once
	MaxIterations int        // model calls of one turn; 0 is without end
	Wait          time.Duration
	Markers       []Marker
	Instructions  []string // system and developer text that is the operator's whenever it comes
	HostTools     []string // tools that are the client's own and work where it runs, of a client nobody knows
	ChatCommands  bool     // .approve and the others in user messages count
}

// Marker encloses what a harness writes into user messages.
type Marker struct {
	Agent      string // only in this harness's messages; "" in all
	Begin, End string // without End it reaches to the end of the text
	What       string // reminder, summary or result
}

// Upstream is a provider, or a program that speaks like one.
type Upstream struct {
	Name      string
	API       string          // openai, anthropic, gemini, vertex, bedrock or ollama
	BaseURL   string          // without a slash at the end
	Key       endpoint.Secret // put in place of the client's; "" passes the client's own on
	KeyHeader string          // where it goes; "" is as the API has it
	Sign      *Signing        // requests are signed for Amazon's services; nil: they are not
	Handshake bool            // a request must carry a line that our plugin was given
	Hooks     bool            // a request must belong to a session that the agent's own hooks report

	// What the operator says carries no tool calls.
	PassPaths []endpoint.Pattern
	PassNames []string
}

// Signing is the key that requests to Amazon's services are signed with. It comes from the environment,
// under the names that Amazon's own tools read.
type Signing struct {
	Region, ID    string
	Secret, Token endpoint.Secret
}

// keyHeaders are where a provider may want its key.
var keyHeaders = []string{"authorization", "api-key", "x-api-key", "x-goog-api-key"}

// apis are what an upstream can speak; the first three are also the public upstreams.
var apis = []string{"openai", "anthropic", "gemini", "vertex", "bedrock", "ollama"}

// publicUpstreams are there without a word in the file.
func publicUpstreams() []Upstream {
	return []Upstream{
		{Name: "openai", API: "openai", BaseURL: "https://api.openai.com"},
		{Name: "anthropic", API: "anthropic", BaseURL: "https://api.anthropic.com"},
		{Name: "gemini", API: "gemini", BaseURL: "https://generativelanguage.googleapis.com"},
	}
}

// The bounds of the section.
const (
	defaultContext    = 32 << 20
	maxContext        = 256 << 20
	defaultConcurrent = 512
	maxWait           = time.Hour
)

// llm reads the section.
func (d *decoder) llm(n *configfile.Node) LLM {
	l := LLM{Upstreams: publicUpstreams(), MaxContext: defaultContext, MaxConcurrent: defaultConcurrent}
	if n == nil {
		return l
	}
	word := func(to *string, words ...string) func(*configfile.Node) {
		return func(n *configfile.Node) {
			if i, ok := d.Choice(n, words...); ok {
				*to = words[i]
			}
		}
	}
	number := func(low, high int64, set func(int64)) func(*configfile.Node) {
		return func(n *configfile.Node) {
			if v, ok := d.Int(n, low, high); ok {
				set(v)
			}
		}
	}
	d.Fields(n, map[string]func(*configfile.Node){
		"upstreams":       func(n *configfile.Node) { l.Upstreams = d.upstreams(n, l.Upstreams) },
		"sender":          word(&l.Sender, "owner", "unknown"),
		"require":         word(&l.Require, "token", "none"),
		"maxContextBytes": number(1<<10, maxContext, func(v int64) { l.MaxContext = v }),
		"maxConcurrent":   number(1, 65_536, func(v int64) { l.MaxConcurrent = int(v) }),
		"wait":            func(n *configfile.Node) { l.Wait = d.span(n, maxWait) },
		"markers":         func(n *configfile.Node) { l.Markers = d.markers(n) },
		"instructions":    func(n *configfile.Node) { l.Instructions = d.lines(n) },
		"hostTools":       func(n *configfile.Node) { l.HostTools = d.lines(n) },
		"chatCommands":    func(n *configfile.Node) { l.ChatCommands, _ = d.Bool(n) },
	}, configfile.Former{Name: "maxIterations", Now: "maxIterations beside llm, which counts here too",
		Read: number(0, 1_000_000, func(v int64) { l.MaxIterations = int(v) })})
	return l
}

// markers reads what tells a harness's words from the user's.
func (d *decoder) markers(n *configfile.Node) []Marker {
	var out []Marker
	kinds := []string{"reminder", "summary", "result"}
	for _, item := range d.Items(n) {
		m := Marker{What: kinds[0]}
		d.Fields(item, map[string]func(*configfile.Node){
			"agent": func(n *configfile.Node) { m.Agent, _ = d.Text(n) },
			"begin": func(n *configfile.Node) { m.Begin, _ = d.Text(n) },
			"end":   func(n *configfile.Node) { m.End, _ = d.Text(n) },
			"what": func(n *configfile.Node) {
				if i, ok := d.Choice(n, kinds...); ok {
					m.What = kinds[i]
				}
			},
		})
		if m.Begin == "" {
			d.Hintf(item.Pos, "write what it begins with, such as begin: \"[tool result]\"", "%s begins with nothing", item.Path)
			continue
		}
		out = append(out, m)
	}
	return out
}

// lines reads a list of texts.
func (d *decoder) lines(n *configfile.Node) []string {
	var out []string
	for _, item := range d.Items(n) {
		if text, ok := d.Text(item); ok {
			out = append(out, text)
		}
	}
	return out
}

// span reads a length of time such as 30s.
func (d *decoder) span(n *configfile.Node, most time.Duration) time.Duration {
	v, err := time.ParseDuration(n.Text)
	if n.Kind == configfile.Int && n.Int == 0 {
		v, err = 0, nil
	}
	if err != nil || v < 0 || v > most {
		d.Hintf(n.Pos, "write it as 30s or 5m, at most "+most.String(), "%s is not a length of time", n.Path)
		return 0
	}
	return v
}

// upstreams adds those of the file to the public ones, or changes them.
func (d *decoder) upstreams(n *configfile.Node, known []Upstream) []Upstream {
	for _, k := range d.Entries(n) {
		i := slices.IndexFunc(known, func(u Upstream) bool { return u.Name == k.Name })
		u := Upstream{Name: k.Name}
		if i >= 0 {
			u = known[i]
		} else if !plainName(k.Name) {
			d.Hintf(k.Pos, "use small letters, digits and dashes", "%s cannot stand in a path", k.Value.Path)
			continue
		} else if k.Name == "canary" {
			d.Hintf(k.Pos, "give it another name", "%s is ours: tidemark doctor tries the proxy with it", k.Value.Path)
			continue
		}
		d.upstream(k, &u)
		if i >= 0 {
			known[i] = u
		} else {
			known = append(known, u)
		}
	}
	return known
}

func plainName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == "" && strings.Trim(s, ".") != ""
}

func (d *decoder) upstream(k configfile.Key, u *Upstream) {
	n := k.Value
	plain := false
	var address *configfile.Node
	d.Fields(n, map[string]func(*configfile.Node){
		"api": func(n *configfile.Node) {
			if i, ok := d.Choice(n, apis...); ok {
				if u.API != "" && u.API != apis[i] {
					d.Hintf(n.Pos, "give it another name", "%s: this upstream always speaks %s", n.Path, u.API)
					return
				}
				u.API = apis[i]
			}
		},
		"baseUrl": func(n *configfile.Node) { address = n },
		"keyEnv":  func(n *configfile.Node) { u.Key = d.key(n) },
		"keyHeader": func(n *configfile.Node) {
			if i, ok := d.Choice(n, keyHeaders...); ok {
				u.KeyHeader = keyHeaders[i]
			}
		},
		"sign":      func(n *configfile.Node) { u.Sign = d.signing(n) },
		"passPaths": func(n *configfile.Node) { u.PassPaths = d.passPaths(n) },
		"passNames": func(n *configfile.Node) { u.PassNames = d.passNames(n) },
		"plainHTTP": func(n *configfile.Node) { plain, _ = d.Bool(n) },
		"handshake": func(n *configfile.Node) { u.Handshake = d.required(n) },
		"hooks":     func(n *configfile.Node) { u.Hooks = d.required(n) },
	})
	if address != nil {
		u.BaseURL = d.upstreamURL(address, plain)
	} else if u.BaseURL == "" {
		d.Errorf(k.Pos, "%s needs baseUrl", n.Path)
	}
	if u.API == "" && n.Get("api") == nil {
		d.Hintf(k.Pos, "add api: openai, anthropic, gemini, vertex, bedrock or ollama", "%s needs api", n.Path)
	}
	if u.Sign != nil && (u.API != "bedrock" || u.Key != "") {
		d.Errorf(k.Pos, "%s: sign is for api: bedrock, and without keyEnv", n.Path)
	}
}

// required reads off or required.
func (d *decoder) required(n *configfile.Node) bool {
	i, ok := d.Choice(n, "off", "required")
	return ok && i == 1
}

// passPaths reads the paths that the operator vouches for.
func (d *decoder) passPaths(n *configfile.Node) []endpoint.Pattern {
	var out []endpoint.Pattern
	for _, item := range d.Items(n) {
		text, ok := d.Text(item)
		if !ok {
			continue
		}
		p, err := endpoint.ParsePattern(text)
		if err != nil {
			d.Hintf(item.Pos, err.Error(), "%s does not name a path", item.Path)
			continue
		}
		out = append(out, p)
	}
	return out
}

// passNames reads the members and types of answers that the operator vouches for.
func (d *decoder) passNames(n *configfile.Node) []string {
	var out []string
	for _, item := range d.Items(n) {
		text, ok := d.Text(item)
		if !ok {
			continue
		}
		if text == "" || strings.ContainsAny(text, " *") {
			d.Hintf(item.Pos, "write one as it stands in the answer, such as reasoning_details",
				"%s is no name of a member or a type", item.Path)
			continue
		}
		out = append(out, text)
	}
	return out
}

// NameUpstream reads NAME or NAME:API of an upstream that did not come from the file; fault
// says what is wrong with it. Without a word it speaks as OpenAI does.
func NameUpstream(text string) (name, api, fault string) {
	name, api, found := strings.Cut(text, ":")
	if !found {
		api = apis[0]
	}
	switch {
	case !plainName(name) || name == "canary":
		return "", "", "the name must be small letters, digits and dashes"
	case !slices.Contains(apis, api):
		return "", "", "the API must be openai, anthropic, gemini, vertex, bedrock or ollama"
	}
	return name, api, ""
}

// upstreamURL reads where an upstream is. Keys and whole conversations go there, so an
// address that is not encrypted is taken only for this machine, or by express wish.
func (d *decoder) upstreamURL(n *configfile.Node, plain bool) string {
	u, ok := d.url(n)
	switch {
	case !ok:
		return ""
	case !plainAddress(u):
		d.Errorf(n.Pos, "%s must not have a query, a fragment or escapes", n.Path)
		return ""
	case u.Scheme == "http" && !outbound.Local(u.Hostname()) && !plain:
		d.Hintf(n.Pos, "use https, an address of this machine, or add plainHTTP: true", "%s is not encrypted", n.Path)
		return ""
	}
	return strings.TrimRight(n.Text, "/")
}

func plainAddress(u *url.URL) bool {
	return u.RawQuery == "" && !u.ForceQuery && u.Fragment == "" && u.RawPath == ""
}

// CheckUpstream says what is wrong with an upstream's address that did not come from the
// file; empty if nothing is.
func CheckUpstream(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || !plainAddress(u):
		return "the address is not usable; write it as https://host/path"
	case u.Scheme == "http" && !outbound.Local(u.Hostname()):
		return "the address is not encrypted; name it in the policy file with plainHTTP: true"
	}
	return ""
}

// key reads a provider's key from the environment.
func (d *decoder) key(n *configfile.Node) endpoint.Secret {
	name, ok := d.Text(n)
	if !ok {
		return ""
	}
	v, _ := d.env(name)
	if v == "" || strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		d.Hintf(n.Pos, "set it before starting, or leave keyEnv out to pass the client's own key on",
			"environment variable %s is not set, or holds more than a key", name)
		return ""
	}
	return endpoint.Secret(v)
}

// signing reads the region that requests are signed for, and the key from the environment.
func (d *decoder) signing(n *configfile.Node) *Signing {
	region, ok := d.Text(n)
	if !ok {
		return nil
	}
	if region == "" || strings.Trim(region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		d.Hintf(n.Pos, "write it as us-east-1", "%s is not a region", n.Path)
		return nil
	}
	s := &Signing{Region: region}
	for name, to := range map[string]func(string){
		"AWS_ACCESS_KEY_ID":     func(v string) { s.ID = v },
		"AWS_SECRET_ACCESS_KEY": func(v string) { s.Secret = endpoint.Secret(v) },
		"AWS_SESSION_TOKEN":     func(v string) { s.Token = endpoint.Secret(v) },
	} {
		if v, _ := d.env(name); !strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			to(v)
		}
	}
	if s.ID == "" || s.Secret == "" {
		d.Hintf(n.Pos, "set both before starting, or leave sign out and use a key for Bedrock",
			"environment variable AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set, or holds more than a key")
		return nil
	}
	return s
}
