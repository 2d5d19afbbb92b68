package config

import (
	"slices"
	"strconv"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/quorum"
)

// Approvals is the `approvals` section: what an approval needs besides a token.
type Approvals struct {
	Proof approvalproof.Want
	Who   quorum.Rules // whose approval counts
	Also  []string     // channels whose answers count as a person's: telegram, slack, discord
}

// apart are the channels that say who answered, each by an account of their own.
var apart = []string{"telegram", "slack", "discord"}

// approvals reads the section. Nothing in it takes away what an enrolled key asks for.
func (d *decoder) approvals(n *configfile.Node) Approvals {
	var a Approvals
	if n == nil {
		return a
	}
	a.Who.People = d.people(n.Get("people"), d.agentGroups(n.Get("agentGroups")))
	wants := []approvalproof.Want{approvalproof.None, approvalproof.Typed, approvalproof.Passkey}
	d.Fields(n, map[string]func(*configfile.Node){
		"proof": func(n *configfile.Node) {
			if i, ok := d.Choice(n, "none", string(approvalproof.Typed), string(approvalproof.Passkey)); ok {
				a.Proof = wants[i]
			}
		},
		"people": func(*configfile.Node) {}, // read before the rules, which name them

		"agentGroups": func(*configfile.Node) {}, // read before the people, who see them
		"rules":       func(n *configfile.Node) { a.Who.List = d.rules(n, a.Who.People) },
		"also": func(n *configfile.Node) {
			for _, item := range d.Texts(n) {
				if !slices.Contains(apart, item.Text) {
					d.Hintf(item.Pos, "there are telegram, slack and discord",
						"approvals.also: %q is no channel that tells people apart", item.Text)
					continue
				}
				a.Also = append(a.Also, item.Text)
			}
		},
	})
	return a
}

// manned refuses rules of the policy that take more people than there are: nobody could ever approve.
func (d *decoder) manned(n *configfile.Node, most int) {
	var list []*configfile.Node
	if rules := n.Get("rules"); rules != nil {
		list = rules.List
	}
	if agents := n.Get("agents"); agents != nil {
		for _, k := range agents.Keys {
			d.manned(k.Value, most)
		}
	}
	for _, item := range list {
		if v := item.Get("people"); v != nil {
			if takes, err := strconv.Atoi(v.Text); err == nil && takes > most {
				d.Hintf(v.Pos, "name them under approvals.people", "%s takes %d people, and approvals.people has %d", v.Path, takes, most)
			}
		}
	}
}
