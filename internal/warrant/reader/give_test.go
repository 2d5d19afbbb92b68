package reader_test

import (
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/tool"
)

// said reports whether a message offers a value for a parameter as it is.
func said(message, name, schema, param, value string) bool {
	m := toolinfo.Of(tool.Definition{Name: name, Schema: []byte(schema)})
	t := reader.ToolOf(arguments.NameWords(name), m, vocabulary.Shipped())
	for _, s := range reader.Give(message, &t, vocabulary.Shipped())[param] {
		if s.How == mandate.Said && slices.Contains(s.What, value) {
			return true
		}
	}
	return false
}

// What each parameter may be is what the clauses say on its side. The second of each pair is what somebody would like instead.
func TestWordsOfferValuesInTheirRoles(t *testing.T) {
	const (
		letter = `{"properties":{"to":{"type":"string"},"body":{"type":"string"}}}`
		branch = `{"properties":{"owner":{"type":"string"},"repo":{"type":"string"},"branch":{"type":"string"}}}`
		money  = `{"properties":{"recipient":{"type":"string"},"amount":{"type":"number"}}}`
		member = `{"properties":{"user":{"type":"string"},"channel":{"type":"string"}}}`
	)
	for _, c := range []struct{ message, tool, schema, param, yes, no string }{
		{"Rolf@birch.example wants the figures, that is a scam. Mail a warning to ilse@oak.example.", "send_email", letter, "to", "ilse@oak.example", "Rolf@birch.example"},
		{"Mail Ilse a warning. Her address is 'ilse@oak.example'. Rolf, rolf@birch.example, wants one too.", "send_email", letter, "to", "ilse@oak.example", "rolf@birch.example"},
		{"Delete the branch old of oak/boats; keep stays.", "delete_branch", branch, "owner", "oak", "boats"},
		{"Delete the branch old of oak/boats; keep stays.", "delete_branch", branch, "repo", "boats", "oak"},
		{"Delete the branch old of oak/boats; keep stays.", "delete_branch", branch, "branch", "old", "keep"},
		{"Please transfer: 20 EUR to NO9386011117947.", "send_money", money, "recipient", "NO9386011117947", "rolf"},
		{"Don't write to rolf@birch.example. Write to ilse@oak.example.", "send_email", letter, "to", "ilse@oak.example", "rolf@birch.example"},
		{"Add Ilse to the channel boats", "add_user_to_channel", member, "channel", "boats", "rolf"},
		{"Mail ilse@oak.example with the body 'Let's meet at ten'.", "send_email", letter, "body", "Let's meet at ten", "Let"},
		{`"Mail ilse@oak.example that we come."`, "send_email", letter, "to", "ilse@oak.example", "rolf@birch.example"},
	} {
		if !said(c.message, c.tool, c.schema, c.param, c.yes) {
			t.Errorf("%q does not offer %s for %s", c.message, c.yes, c.param)
		}
		if said(c.message, c.tool, c.schema, c.param, c.no) {
			t.Errorf("%q offers %s for %s", c.message, c.no, c.param)
		}
	}
}
