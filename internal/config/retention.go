package config

import (
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/retention"
)

// Retention is the `retention` section.
type Retention struct {
	Limits retention.Limits // none: everything is kept
	Every  time.Duration    // how often the log is looked at
}

func (d *decoder) retention(n *configfile.Node) Retention {
	out := Retention{Every: 24 * time.Hour}
	if n == nil {
		return out
	}
	fields := map[string]func(*configfile.Node){}
	for _, what := range event.PruneKinds() {
		fields[what] = func(n *configfile.Node) {
			if l := d.limit(n); l != (retention.Limit{}) {
				if out.Limits == nil {
					out.Limits = retention.Limits{}
				}
				out.Limits[what] = l
			}
		}
	}
	d.Fields(n, fields, configfile.Former{Name: "everyHours", Now: configfile.Nothing, Read: func(n *configfile.Node) {
		if v, ok := d.Int(n, 1, 24*365); ok {
			out.Every = time.Duration(v) * time.Hour
		}
	}})
	return out
}

func (d *decoder) limit(n *configfile.Node) (l retention.Limit) {
	d.Fields(n, map[string]func(*configfile.Node){
		"days": func(n *configfile.Node) {
			if v, ok := d.Int(n, 1, 36500); ok {
				l.Age = time.Duration(v) * 24 * time.Hour
			}
		},
		"megabytes": func(n *configfile.Node) {
			if v, ok := d.Int(n, 1, 1<<30); ok {
				l.Bytes = v << 20
			}
		},
	})
	return l
}
