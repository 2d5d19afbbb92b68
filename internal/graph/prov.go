package graph

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// attrs are the members of one PROV-JSON record.
type attrs = map[string]any

// provDoc is a PROV-JSON document; relations are keyed by blank ids.
type provDoc struct {
	Prefix       map[string]string `json:"prefix"`
	Entity       map[string]attrs  `json:"entity,omitzero"`
	Activity     map[string]attrs  `json:"activity"`
	Agent        map[string]attrs  `json:"agent"`
	Generated    map[string]attrs  `json:"wasGeneratedBy,omitzero"`
	Used         map[string]attrs  `json:"used,omitzero"`
	Informed     map[string]attrs  `json:"wasInformedBy,omitzero"`
	Started      map[string]attrs  `json:"wasStartedBy,omitzero"`
	Invalidated  map[string]attrs  `json:"wasInvalidatedBy,omitzero"`
	Derived      map[string]attrs  `json:"wasDerivedFrom,omitzero"`
	Attributed   map[string]attrs  `json:"wasAttributedTo,omitzero"`
	AssociatedBy map[string]attrs  `json:"wasAssociatedWith,omitzero"`
	Influenced   map[string]attrs  `json:"wasInfluencedBy,omitzero"`

	relations int
}

// PROV is the graph as W3C PROV-JSON: content as entities; model calls, tool calls
// and decisions as activities; the agent, the monitor and people as agents. What PROV
// has no word for stands in tidemark: attributes. A graph with two nodes of one id or
// an edge to nowhere is an error.
func (g *Graph) PROV() ([]byte, error) {
	d := g.provFrame()
	nodes := make(map[string]*Node, len(g.Nodes))
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.ID == "" || nodes[n.ID] != nil {
			return nil, fmt.Errorf("write PROV of turn %q: no id or two nodes of one id %q", g.TurnID, n.ID)
		}
		nodes[n.ID] = n
		if err := d.node(n, g.provAgent()); err != nil {
			return nil, fmt.Errorf("write PROV of turn %q: %w", g.TurnID, err)
		}
	}
	for _, e := range g.Edges {
		from, to := nodes[e.From], nodes[e.To]
		if from == nil || to == nil {
			return nil, fmt.Errorf("write PROV of turn %q: edge %q %s %q leads nowhere", g.TurnID, e.From, e.Relation, e.To)
		}
		d.edge(from, to, e.Relation)
	}
	return strictjson.MarshalIndent(d)
}

// provFrame is the document with the turn itself and its standing agents.
func (g *Graph) provFrame() *provDoc {
	d := &provDoc{
		Prefix: map[string]string{
			"prov":     "http://www.w3.org/ns/prov#",
			"xsd":      "http://www.w3.org/2001/XMLSchema#",
			"tidemark": "urn:tidemark:ns:",
			"session":  "urn:tidemark:session:" + localName(g.SessionKey) + ":",
			"turn":     "urn:tidemark:turn:" + localName(g.SessionKey) + ":" + localName(g.TurnID) + ":",
			"agent":    "urn:tidemark:agent:",
			"who":      "urn:tidemark:who:",
		},
		Activity: map[string]attrs{},
		Agent: map[string]attrs{
			"tidemark:monitor": {"prov:type": qname("prov:SoftwareAgent")},
			g.provAgent():      {"prov:type": qname("prov:SoftwareAgent")},
		},
	}
	turn := "session:" + localName(g.TurnID)
	d.Activity[turn] = attrs{
		"prov:type":                qname("tidemark:turn"),
		"prov:startTime":           provTime(g.Timestamp),
		"prov:endTime":             provTime(g.Timestamp + g.DurationMs),
		"tidemark:turnId":          g.TurnID,
		"tidemark:sessionKey":      g.SessionKey,
		"tidemark:maxTaint":        g.Summary.MaxTaint.String(),
		"tidemark:iterationCount":  g.Summary.IterationCount,
		"tidemark:toolsBlocked":    g.Summary.ToolsBlocked,
		"tidemark:externalSources": g.Summary.ExternalSources,
	}
	d.relate(&d.AssociatedBy, attrs{"prov:activity": turn, "prov:agent": g.provAgent()})
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Kind == NodeInput {
			d.relate(&d.Started, attrs{"prov:activity": turn, "prov:trigger": n.provID()})
			break
		}
	}
	return d
}

// node adds the record of a node and who stands behind it.
func (d *provDoc) node(n *Node, agent string) error {
	a, err := n.provAttrs()
	if err != nil {
		return err
	}
	id := n.provID()
	if !n.isActivity() {
		if d.Entity == nil {
			d.Entity = map[string]attrs{}
		}
		d.Entity[id] = a
		if n.Kind == NodeInput && n.Metadata != nil && n.Metadata.Sender != "" {
			d.relate(&d.Attributed, attrs{"prov:entity": id, "prov:agent": d.who(n.Metadata.Sender)})
		}
		return nil
	}
	d.Activity[id] = a
	switch {
	case n.Kind != NodePolicyDecision:
	case n.Metadata != nil && n.Metadata.By != "":
		agent = d.who(n.Metadata.By)
	default:
		agent = "tidemark:monitor"
	}
	d.relate(&d.AssociatedBy, attrs{"prov:activity": id, "prov:agent": agent})
	return nil
}

// edge adds the relation that fits the kinds of both ends. Relations of PROV point
// from what was influenced to what influenced it.
func (d *provDoc) edge(from, to *Node, r Relation) {
	effect, cause := from, to
	if r == Triggers || r == Produces {
		effect, cause = to, from
	}
	e, c := effect.provID(), cause.provID()
	word := "tidemark:relation"
	switch {
	case effect.isActivity() && cause.isActivity():
		d.relate(&d.Informed, attrs{"prov:informed": e, "prov:informant": c, word: r})
	case effect.isActivity():
		d.relate(&d.Used, attrs{"prov:activity": e, "prov:entity": c, word: r})
	case !cause.isActivity():
		d.relate(&d.Derived, attrs{"prov:generatedEntity": e, "prov:usedEntity": c, word: r})
	case r == BlockedBy:
		d.relate(&d.Invalidated, attrs{"prov:entity": e, "prov:activity": c, word: r})
	case r == Produces, cause.Kind == NodeLLMCall:
		d.relate(&d.Generated, attrs{"prov:entity": e, "prov:activity": c, word: r})
	default: // a second generation would contradict the first
		d.relate(&d.Influenced, attrs{"prov:influencee": e, "prov:influencer": c, word: r})
	}
}

func (d *provDoc) relate(set *map[string]attrs, a attrs) {
	if *set == nil {
		*set = map[string]attrs{}
	}
	d.relations++
	(*set)[fmt.Sprintf("_:r%d", d.relations)] = a
}

// who is somebody outside: a sender, who need not be a person, or an approver.
func (d *provDoc) who(name string) string {
	id := "who:" + localName(name)
	d.Agent[id] = attrs{"tidemark:name": name}
	return id
}

func (g *Graph) provAgent() string {
	if g.AgentID == "" {
		return "tidemark:agent"
	}
	return "agent:" + localName(g.AgentID)
}

func (n *Node) provID() string { return "turn:" + localName(n.ID) }

// isActivity: what happens over time; everything else is content.
func (n *Node) isActivity() bool {
	return n.Kind == NodeLLMCall || n.Kind == NodeToolCall || n.Kind == NodePolicyDecision
}

// provAttrs are the node's fields and metadata under their JSON names.
func (n *Node) provAttrs() (attrs, error) {
	var fields map[string]any
	b, err := strictjson.Marshal(n)
	if err == nil {
		err = strictjson.Unmarshal(b, &fields)
	}
	if err != nil {
		return nil, err
	}
	meta, _ := fields["metadata"].(map[string]any)
	a := attrs{"prov:type": qname("tidemark:" + localName(string(n.Kind))), "prov:label": n.ID}
	for _, name := range []string{"id", "kind", "metadata"} { // said above, or taken apart below
		delete(fields, name)
	}
	for _, set := range []map[string]any{meta, fields} {
		for k, v := range set {
			a["tidemark:"+k] = v
		}
	}
	return a, nil
}

func qname(name string) attrs { return attrs{"$": name, "type": "xsd:QName"} }

func provTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// localName keeps any text inside one local name: what is not a letter, digit, '-',
// '_' or '.' of ASCII becomes %XX, byte by byte, so that different texts stay
// different. No text at all becomes '_', for a name cannot be empty.
func localName(s string) string {
	if s == "" {
		return "_"
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
