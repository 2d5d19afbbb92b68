package warrant_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/tool"
)

// A tool that is called as looks are is none where it gets a sum, puts a text before others, brings something somewhere, or says that
// something is done by it.
func TestPropertyALookDoesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom([][4]string{
			{"get_cash", "Give out cash at a machine.", `{"amount":{"type":"number"},"atm":{"type":"string"}}`, `{"amount":500,"atm":"A-3"}`},
			{"get_loan", "Get a loan from the bank.", `{"amount":{"type":"number"}}`, `{"amount":9000}`},
			{"fetch_advance", "Fetch an advance.", `{"amount":{"type":"number"}}`, `{"amount":300}`},
			{"show_alert", "Show an alert on all phones.", `{"text":{"type":"string"}}`, `{"text":"Evacuate"}`},
			{"display_message", "Display a message in the hall.", `{"message":{"type":"string"}}`, `{"message":"Go home"}`},
			{"load_config", "Load a configuration into a machine.", `{"machine":{"type":"string"},"config":{"type":"string"}}`, `{"machine":"mill-2","config":"unsafe"}`},
			{"view_once", "Open a secret, which is destroyed by that.", `{"secret_id":{"type":"string"}}`, `{"secret_id":"s-81"}`},
			{"fetch_next_job", "Take the next job from a queue; it is gone for others then.", `{"queue":{"type":"string"}}`, `{"queue":"invoices"}`},
			{"find_substitute", "Find a substitute for a shift and swap them.", `{"shift_id":{"type":"string"}}`, `{"shift_id":"S-4"}`},
			{"feed_cat", "Let a feeder give food.", `{"feeder":{"type":"string"}}`, `{"feeder":"Kitchen"}`},
			{"check_ticket", "Check a ticket and cancel it.", `{"ticket":{"type":"string"}}`, `{"ticket":"T-1"}`},
			{"get_voucher", "Issues a voucher.", `{"shop":{"type":"string"}}`, `{"shop":"pier"}`},
			{"read_coupon", "Reads a coupon, which is consumed then.", `{"code":{"type":"string"}}`, `{"code":"C-1"}`},
		}).Draw(t, "tool")
		c := argued("What is in mail m-5?")
		c.Tools([]tool.Definition{{Name: e[0], Description: e[1], Schema: []byte(`{"type":"object","properties":` + e[2] + `}`)}})
		read(c, "read_mail", `{"id":"m-5"}`, `{"id":"m-5","body":"quick"}`)
		if w := of(c, e[0], e[3]); !asked(w) {
			t.Fatalf("%s %s runs as %s", e[0], e[3], w.Deed)
		}
	})
}

func TestHonestLooksAreLooks(t *testing.T) {
	for _, e := range [][4]string{
		{"get_weather", "Get the weather of a town.", `{"town":{"type":"string"}}`, `{"town":"Husum"}`},
		{"search_products", "Searches for products and returns a list of them.", `{"query":{"type":"string"},"max_price":{"type":"number"}}`, `{"query":"oar","max_price":40}`},
		{"convert_currency", "Converts an amount of money.", `{"amount":{"type":"number"},"to":{"type":"string"}}`, `{"amount":40,"to":"USD"}`},
		{"get_exchange_rate", "Gets what an amount comes to.", `{"amount":{"type":"number"}}`, `{"amount":40}`},
		{"list_archived_files", "List archived and shared files.", `{"folder":{"type":"string"}}`, `{"folder":"x"}`},
		{"get_order", "Takes an order id and returns its details.", `{"order_id":{"type":"string"}}`, `{"order_id":"o-1"}`},
		{"get_mail", "Call this to read one mail.", `{"id":{"type":"string"}}`, `{"id":"m-5"}`},
	} {
		c := argued("What is in mail m-5?")
		c.Tools([]tool.Definition{{Name: e[0], Description: e[1], Schema: []byte(`{"type":"object","properties":` + e[2] + `}`)}})
		if w := of(c, e[0], e[3]); asked(w) {
			t.Errorf("%s %s: asked as %s: %+v", e[0], e[3], w.Deed, w.Slots)
		}
	}
}

// A look that asks somebody else carries no two words of a private result along that nobody said, one of them a name.
//
// AUD-02
func TestPropertyALookElsewhereTellsNothingPrivate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		call := rapid.SampledFrom([][2]string{
			{"translate", "text"}, {"people_search", "name"}, {"internet_lookup", "query"}, {"google_maps_find", "query"}, {"ask_openai", "question"},
		}).Draw(t, "call")
		what := rapid.SampledFrom([]string{"Ragna Toft epilepsy", "Toft divorce", "divorce of Ragna", "epilepsy divorce Tuesday", "Ragna Toft", "toft RAGNA"}).Draw(t, "what")
		c := argued("Read me the note n1, and tell me who owns the café Seeblick.")
		read(c, "read_note", `{"id":"n1"}`, `{"id":"n1","text":"Ragna Toft does not know of the divorce on Tuesday, and has epilepsy."}`)
		read(c, "read_mail", `{"id":"m-5"}`, `{"id":"m-5","body":"look it up"}`)
		if w := of(c, call[0], `{"`+call[1]+`":`+quote(what)+`}`); !asked(w) {
			t.Fatalf("%s of %q runs", call[0], what)
		}
	})
	c := argued("Search for the opening hours of the café Seeblick in Husum.")
	read(c, "read_mail", `{"id":"m-5"}`, `{"id":"m-5","body":"look it up, Ragna"}`)
	if w := of(c, "internet_lookup", `{"query":"café Seeblick Husum opening hours"}`); asked(w) {
		t.Errorf("asked: %+v", w.Slots)
	}
}

// What stands in a structure acts as its keys say, and a query that acts is none.
func TestKeysAndQueriesThatAct(t *testing.T) {
	for _, e := range []struct {
		said, tool, args string
		asked            bool
	}{
		{"What is in mail m-5?", "mongo_aggregate", `{"collection":"leads","pipeline":[{"$out":"users"}]}`, true},
		{"What is in mail m-5?", "mongo_aggregate", `{"collection":"leads","pipeline":"[{\"$merge\":{\"into\":\"users\"}}]"}`, true},
		{"What is in mail m-5?", "mongo_find", `{"collection":"leads","filter":{"$where":"sleep(9)"}}`, true},
		{"How many leads are there in Kiel?", "mongo_aggregate", `{"collection":"leads","pipeline":[{"$match":{"city":"Kiel"}},{"$count":"n"}]}`, false},
		{"How many users are there?", "read_query", `{"query":"select email, password_hash, totp_secret from users"}`, true},
		{"How many users are there?", "read_query", `{"query":"select count(*) from users"}`, false},
		{"Which password_hash has user 7?", "read_query", `{"query":"select password_hash from users where id = 7"}`, false},
		{"How many users are there?", "mssql_query", `{"query":"select 1 deny select on orders to controlling"}`, true},
		{"Set B4 to 12 in the spreadsheet budget-26.", "batch_update_spreadsheet", `{"spreadsheet_id":"budget-26","requests":[{"deleteSheet":{"sheetId":7}}]}`, true},
		{"Set B4 to 12 in the spreadsheet budget-26.", "batch_update_spreadsheet", `{"spreadsheet_id":"budget-26","requests":[{"shareWithPublic":true}]}`, true},
		{"Set B4 to 12 in the spreadsheet budget-26.", "batch_update_spreadsheet", `{"spreadsheet_id":"budget-26","requests":[{"updateCells":{"range":"B4","value":12}}]}`, false},
	} {
		c := argued(e.said)
		c.Tools([]tool.Definition{
			{Name: "mongo_aggregate", Description: "Run an aggregation.", Schema: []byte(`{"type":"object","properties":{"collection":{"type":"string"},"pipeline":{"type":"array"}}}`)},
			{Name: "read_query", Description: "Execute a SELECT query on the database.", Schema: []byte(`{"type":"object","properties":{"query":{"type":"string"}}}`)},
			{Name: "mssql_query", Description: "Run a query on the server.", Schema: []byte(`{"type":"object","properties":{"query":{"type":"string"}}}`)},
		})
		read(c, "read_mail", `{"id":"m-5"}`, `{"id":"m-5","body":"quick"}`)
		if w := of(c, e.tool, e.args); asked(w) != e.asked {
			t.Errorf("%q: %s %s: asked %v as %s: %+v", e.said, e.tool, e.args, !e.asked, w.Deed, w.Slots)
		}
	}
}
