package config

import (
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/people/quorum"
)

// agentGroups reads names for several agents.
func (d *decoder) agentGroups(n *configfile.Node) map[string][]string {
	out := map[string][]string{}
	if n == nil {
		return out
	}
	for _, k := range d.Entries(n) {
		if out[k.Name] = d.texts(k.Value); len(out[k.Name]) == 0 {
			d.Errorf(k.Value.Pos, "%s has no agents", k.Value.Path)
		}
	}
	return out
}

// sees reads whose sessions somebody may look into: agents, patterns of them, and groups.
func (d *decoder) sees(n *configfile.Node, groups map[string][]string) []string {
	var out []string
	for _, item := range d.Texts(n) {
		name, group := strings.CutPrefix(item.Text, "group:")
		switch {
		case group && groups[name] == nil:
			d.Hintf(item.Pos, "name its agents under approvals.agentGroups", "%s: there is no group %q", item.Path, name)
		case group:
			out = append(out, groups[name]...)
		case item.Text == "":
			d.Errorf(item.Pos, "%s: no agent is called so", item.Path)
		default:
			out = append(out, item.Text)
		}
	}
	if len(out) == 0 {
		d.Hintf(n.Pos, "leave it out: who is not given anything sees nothing", "%s is empty", n.Path)
	}
	return out
}

// people reads who there is.
func (d *decoder) people(n *configfile.Node, groups map[string][]string) []quorum.Person {
	if n == nil {
		return nil
	}
	var out []quorum.Person
	taken := map[string]string{}
	for _, k := range d.Entries(n) {
		p := quorum.Person{Name: k.Name}
		d.Fields(k.Value, map[string]func(*configfile.Node){
			"accounts": func(n *configfile.Node) {
				for _, item := range d.Texts(n) {
					if taken[item.Text] != "" {
						d.Errorf(item.Pos, "%s is the account of %s too: who answers would not be known", item.Text, taken[item.Text])
					}
					taken[item.Text] = p.Name
					p.Accounts = append(p.Accounts, item.Text)
				}
			},
			"agents": func(n *configfile.Node) { p.Agents = d.texts(n) },
			"quiet":  func(n *configfile.Node) { p.Quiet = d.hours(n) },
			"sees":   func(n *configfile.Node) { p.Sees = d.sees(n, groups) },
		})
		if len(p.Accounts) == 0 {
			d.Hintf(k.Value.Pos, "as answers are recorded: slack:U0123, telegram:7, approver", "%s needs accounts", k.Value.Path)
		}
		out = append(out, p)
	}
	return out
}

func (d *decoder) texts(n *configfile.Node) []string {
	var out []string
	for _, item := range d.Texts(n) {
		out = append(out, item.Text)
	}
	return out
}

// hours reads "22:00-07:00 Europe/Berlin".
func (d *decoder) hours(n *configfile.Node) quorum.Hours {
	v, ok := d.Text(n)
	if !ok {
		return quorum.Hours{}
	}
	span, zone, _ := strings.Cut(v, " ")
	from, to, _ := strings.Cut(span, "-")
	begin, err1 := time.Parse("15:04", from)
	end, err2 := time.Parse("15:04", to)
	where, err3 := time.LoadLocation(strings.TrimSpace(zone))
	if err1 != nil || err2 != nil || err3 != nil || begin.Equal(end) {
		d.Hintf(n.Pos, `write it as "22:00-07:00 Europe/Berlin"; without a zone it is UTC`, "%s is no span of the day", n.Path)
		return quorum.Hours{}
	}
	return quorum.Hours{From: begin.Hour()*60 + begin.Minute(), To: end.Hour()*60 + end.Minute(), Zone: where}
}

// The words of rules about people.
var (
	acts  = []string{"read", "tidy", "create", "change", "send", "delete", "execute", "pay", "grant", "unknown"}
	kinds = []string{"escalate", "danger", "taint-escalation", "intent-block"}
)

// rules reads whom questions are put to.
func (d *decoder) rules(n *configfile.Node, people []quorum.Person) []quorum.Rule {
	var out []quorum.Rule
	for _, item := range d.Items(n) {
		var r quorum.Rule
		d.Fields(item, map[string]func(*configfile.Node){
			"agents": func(n *configfile.Node) { r.Agents = d.texts(n) },
			"tools":  func(n *configfile.Node) { r.Tools = d.texts(n) },
			"acts":   func(n *configfile.Node) { r.Acts = d.among(n, acts) },
			"kinds":  func(n *configfile.Node) { r.Kinds = d.among(n, kinds) },
			"ask":    func(n *configfile.Node) { r.Ask = d.named(n, people) },
			"then": func(n *configfile.Node) {
				for _, item := range d.Items(n) {
					var s quorum.Step
					d.Fields(item, map[string]func(*configfile.Node){
						"afterMinutes": func(n *configfile.Node) {
							v, _ := d.Int(n, 1, 1440)
							s.After = time.Duration(v) * time.Minute
						},
						"ask": func(n *configfile.Node) { s.Ask = d.named(n, people) },
					})
					r.Then = append(r.Then, s)
				}
			},
			"people": func(n *configfile.Node) {
				v, _ := d.Int(n, 1, 5)
				r.People = int(v)
			},
			"notOwn": func(n *configfile.Node) { r.NotOwn, _ = d.Bool(n) },
			"apart":  func(n *configfile.Node) { r.Apart, _ = d.Bool(n) },
		})
		d.enough(item, &r, people)
		out = append(out, r)
	}
	return out
}

// enough refuses a rule that nobody could ever meet.
func (d *decoder) enough(n *configfile.Node, r *quorum.Rule, people []quorum.Person) {
	all := slices.Clone(r.Ask)
	for _, s := range r.Then {
		all = append(all, s.Ask...)
	}
	if len(r.Ask) == 0 {
		if len(r.Then) > 0 {
			d.Errorf(n.Pos, "%s has then without ask: everybody is asked from the start", n.Path)
		}
		for _, p := range people {
			all = append(all, p.Name)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if most := len(all); r.People > most {
		d.Errorf(n.Pos, "%s takes %d people, and there are %d", n.Path, r.People, most)
	}
	if !r.Apart {
		return
	}
	if r.People < 2 {
		d.Errorf(n.Get("apart").Pos, "%s has apart, which says how several people must differ, and takes one", n.Path)
	}
	vouched := 0
	for _, p := range people {
		if slices.Contains(all, p.Name) && slices.ContainsFunc(p.Accounts, quorum.Vouched) {
			vouched++
		}
	}
	if vouched < r.People-1 {
		d.Hintf(n.Pos, "slack:…, discord:…, telegram:…, or approver:NAME@DOMAIN of a provider",
			"%s takes %d people apart, and %d of them have an account that is not this server's own", n.Path, r.People, vouched)
	}
}

func (d *decoder) among(n *configfile.Node, known []string) []string {
	var out []string
	for _, item := range d.Items(n) {
		if i, ok := d.Choice(item, known...); ok {
			out = append(out, known[i])
		}
	}
	return out
}

func (d *decoder) named(n *configfile.Node, people []quorum.Person) []string {
	var out []string
	for _, item := range d.Texts(n) {
		if !slices.ContainsFunc(people, func(p quorum.Person) bool { return p.Name == item.Text }) {
			d.Hintf(item.Pos, "name them under approvals.people", "%s: %q is none of the people", item.Path, item.Text)
			continue
		}
		out = append(out, item.Text)
	}
	return out
}
