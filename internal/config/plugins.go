package config

import (
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/plugins/compliance"
	"github.com/tidemark/tidemark/internal/plugins/cost"
	"github.com/tidemark/tidemark/internal/plugins/experiment"
)

// Plugins is the `plugins` section: those that ship. nil: not switched on.
type Plugins struct {
	Cost       *cost.Options
	Compliance *Compliance
	Experiment *experiment.Options
	Telemetry  *Telemetry
}

// Compliance is what the file says of the compliance record.
type Compliance struct {
	KeepDays int
	Prompts  bool
	Personal []string
	Answers  bool
}

// Telemetry is what the file says of the collector.
type Telemetry struct {
	Endpoint string
	Headers  map[string]endpoint.Secret
	Service  string
	Every    time.Duration
}

func (d *decoder) shipped(n *configfile.Node) Plugins {
	var p Plugins
	if n == nil {
		return p
	}
	d.Fields(n, map[string]func(*configfile.Node){
		"cost":       func(n *configfile.Node) { p.Cost = d.cost(n) },
		"compliance": func(n *configfile.Node) { p.Compliance = d.compliance(n) },
		"experiment": func(n *configfile.Node) { p.Experiment = d.experiment(n) },
		"telemetry":  func(n *configfile.Node) { p.Telemetry = d.telemetry(n) },
	})
	return p
}

// The bounds of money and tokens: beyond them somebody has slipped.
const (
	maxMoney  = 1e9
	maxTokens = 1 << 50
)

func (d *decoder) cost(n *configfile.Node) *cost.Options {
	o := &cost.Options{AlertAt: 80}
	d.Fields(n, map[string]func(*configfile.Node){
		"turn":    func(n *configfile.Node) { o.Turn = d.budget(n) },
		"session": func(n *configfile.Node) { o.Session = d.budget(n) },
		"day":     func(n *configfile.Node) { o.Day = d.budget(n) },
		"prices":  func(n *configfile.Node) { o.Prices = d.prices(n) },
		"alertAt": func(n *configfile.Node) {
			if v, ok := d.Int(n, 0, 100); ok {
				o.AlertAt = int(v)
			}
		},
	})
	if money := o.Turn.Money + o.Session.Money + o.Day.Money; money > 0 && len(o.Prices) == 0 {
		d.Hintf(n.Pos, "say what models cost, such as prices: {\"*\": {input: 3, output: 15}} for a million tokens",
			"plugins.cost bounds money and knows no price")
	}
	return o
}

func (d *decoder) budget(n *configfile.Node) cost.Budget {
	var b cost.Budget
	d.Fields(n, map[string]func(*configfile.Node){
		"tokens": func(n *configfile.Node) { b.Tokens, _ = d.Int(n, 1, maxTokens) },
		"money":  func(n *configfile.Node) { b.Money, _ = d.Number(n, 0, maxMoney) },
	})
	return b
}

func (d *decoder) prices(n *configfile.Node) []cost.Price {
	var out []cost.Price
	for _, k := range d.Entries(n) {
		p := cost.Price{Model: k.Name}
		d.Fields(k.Value, map[string]func(*configfile.Node){
			"input":  func(n *configfile.Node) { p.Input, _ = d.Number(n, 0, maxMoney) },
			"output": func(n *configfile.Node) { p.Output, _ = d.Number(n, 0, maxMoney) },
		})
		out = append(out, p)
	}
	return out
}

// keepForEver is the most days that can be said.
const keepForEver = 36_500

func (d *decoder) compliance(n *configfile.Node) *Compliance {
	c := &Compliance{KeepDays: 90, Personal: compliance.Kinds()}
	d.Fields(n, map[string]func(*configfile.Node){
		"keepDays": func(n *configfile.Node) {
			if v, ok := d.Int(n, 1, keepForEver); ok {
				c.KeepDays = int(v)
			}
		},
		"content": func(n *configfile.Node) {
			i, ok := d.Choice(n, "hashes", "redacted")
			c.Prompts = ok && i == 1
		},
		"personal": func(n *configfile.Node) {
			c.Personal = nil
			for _, item := range d.Texts(n) {
				if i, ok := d.Choice(item, compliance.Kinds()...); ok {
					c.Personal = append(c.Personal, compliance.Kinds()[i])
				}
			}
		},
		"redactAnswers": func(n *configfile.Node) { c.Answers, _ = d.Bool(n) },
	})
	return c
}

func (d *decoder) experiment(n *configfile.Node) *experiment.Options {
	o := &experiment.Options{Share: 50}
	d.Fields(n, map[string]func(*configfile.Node){
		"name":         func(n *configfile.Node) { o.Name, _ = d.Text(n) },
		"share":        func(n *configfile.Node) { share, _ := d.Int(n, 0, 100); o.Share = int(share) },
		"model":        func(n *configfile.Node) { o.Model, _ = d.Text(n) },
		"systemPrompt": func(n *configfile.Node) { o.SystemPrompt, _ = d.Text(n) },
		"appendPrompt": func(n *configfile.Node) { o.Append, _ = d.Text(n) },
	})
	if n.Get("name") == nil {
		d.Errorf(n.Pos, "plugins.experiment needs name")
	}
	if o.SystemPrompt != "" && o.Append != "" {
		d.Errorf(n.Pos, "plugins.experiment has systemPrompt and appendPrompt: say one of them")
	}
	return o
}

// The bounds of the time between two requests to a collector.
const (
	minEvery = time.Second
	maxEvery = time.Hour
)

func (d *decoder) telemetry(n *configfile.Node) *Telemetry {
	t := &Telemetry{Service: "tidemark", Every: 5 * time.Second}
	d.Fields(n, map[string]func(*configfile.Node){
		"endpoint":   func(n *configfile.Node) { t.Endpoint = strings.TrimRight(d.address(n), "/") },
		"headersEnv": func(n *configfile.Node) { t.Headers = d.pairs(n) },
		"service":    func(n *configfile.Node) { t.Service, _ = d.Text(n) },
	}, configfile.Former{Name: "every", Now: configfile.Nothing,
		Read: func(n *configfile.Node) { t.Every = max(minEvery, d.span(n, maxEvery)) }})
	if n.Get("endpoint") == nil {
		d.Hintf(n.Pos, "add endpoint: http://127.0.0.1:4318", "plugins.telemetry needs endpoint")
	}
	return t
}

// pairs reads name=value pairs, as OTEL_EXPORTER_OTLP_HEADERS has them.
func (d *decoder) pairs(n *configfile.Node) map[string]endpoint.Secret {
	name, ok := d.Text(n)
	if !ok {
		return nil
	}
	v, _ := d.env(name)
	out := map[string]endpoint.Secret{}
	for pair := range strings.SplitSeq(v, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		if !found || key == "" || strings.ContainsAny(key+value, "\r\n") {
			d.Hintf(n.Pos, "set it to name=value,name=value before starting", "environment variable %s holds no headers", name)
			return nil
		}
		out[key] = endpoint.Secret(value)
	}
	return out
}
