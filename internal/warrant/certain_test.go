package warrant_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

// offered is a world with some tools, in which something was read.
func offered(said string, list ...tool.Definition) *warrant.Context {
	c := world(said)
	c.Tools(list)
	read(c, "list_weather_stations", `{}`, `[{"station":"Norrland ridge","sky":"clear"}]`)
	return c
}

func define(name, description, properties string) tool.Definition {
	return tool.Definition{Name: name, Description: description, Schema: []byte(`{"type":"object","properties":{` + properties + `}}`)}
}

var (
	postMessage = define("post_message", "Post a message to somebody.", `"to":{"type":"string"},"text":{"type":"string"}`)
	refund      = define("create_refund", "Refund a payment.", `"payment":{"type":"string"},"amount":{"type":"number"}`)
	ride        = define("request_ride", "Request a ride.", `"dropoff":{"type":"string"}`)
	payInvoice  = define("pay_invoice", "Pay an invoice.", `"number":{"type":"string"}`)
	shareFile   = define("share_file", "Share a file with somebody.", `"file":{"type":"string"},"email":{"type":"string"}`)
	checkout    = define("checkout", "Pay for what is in the basket.", ``)
	toBasket    = define("add_to_basket", "Put something into the basket.", `"item":{"type":"string"}`)
)

// The certain reader gives acts without a model: what people say of a thing in other words than its tool's name. What speaks of it and
// orders nothing gives none. The values are judged as ever.
func TestTheCertainReaderGivesTheAct(t *testing.T) {
	for _, tt := range []struct {
		said  string
		tool  tool.Definition
		args  string
		asked bool
	}{
		{"Let ida@fjord.example know the ferry is late", postMessage, `{"to":"ida@fjord.example","text":"The ferry is late."}`, false},
		{"Let ida@fjord.example know the ferry is late", postMessage, `{"to":"rolf@birch.example","text":"The ferry is late."}`, true},
		{"Let me know whether ida@fjord.example wrote", postMessage, `{"to":"ida@fjord.example","text":"Did you write?"}`, true},
		{"They let ida@fjord.example know the ferry is late", postMessage, `{"to":"ida@fjord.example","text":"The ferry is late."}`, true},
		{"Don't let ida@fjord.example know the ferry is late", postMessage, `{"to":"ida@fjord.example","text":"The ferry is late."}`, true},
		{"Give the 40 of payment PX-7741 back", refund, `{"payment":"PX-7741","amount":40}`, false},
		{"I need a refund policy for PX-7741, write one", refund, `{"payment":"PX-7741"}`, true},
		{"Who gave the 40 of PX-7741 back?", refund, `{"payment":"PX-7741","amount":40}`, true},
		{"I need a taxi to Harbour-Street-7", ride, `{"dropoff":"Harbour-Street-7"}`, false},
		{"Do I need a taxi to Harbour-Street-7?", ride, `{"dropoff":"Harbour-Street-7"}`, true},
		{"Rolf said I need a taxi to Harbour-Street-7", ride, `{"dropoff":"Harbour-Street-7"}`, true},
		{"Tell ida@fjord.example the invoice RE-2209 is paid", payInvoice, `{"number":"RE-2209"}`, true},
		{"Could you give ida@fjord.example access to plan-7.xlsx?", shareFile, `{"file":"plan-7.xlsx","email":"ida@fjord.example"}`, false},
		{"Does ida@fjord.example have access to plan-7.xlsx?", shareFile, `{"file":"plan-7.xlsx","email":"ida@fjord.example"}`, true},
	} {
		c := offered(tt.said, postMessage, refund, ride, payInvoice, shareFile)
		if got := asked(of(c, tt.tool.Name, tt.args)); got != tt.asked {
			t.Errorf("%q: %s %s asked %v, want %v", tt.said, tt.tool.Name, tt.args, got, tt.asked)
		}
	}
}

// Who pays for something says what, or it was put together here: a verb that means buying among other things orders no purchase.
func TestNothingIsBoughtWithoutAWordOfIt(t *testing.T) {
	for _, said := range []string{
		"Check out https://tides.example/today", "Order the entries of https://tides.example/today by date",
		"Book titles: list those of https://tides.example/today", "Get me a summary of https://tides.example/today", "Buy nothing before you have looked",
	} {
		c := offered(said, checkout, toBasket)
		if !asked(of(c, "checkout", `{}`)) {
			t.Errorf("%q: what is in the basket is paid for", said)
		}
	}
	c := offered("Put oats into the basket and check out", checkout, toBasket)
	args := tool.NewArgs([]byte(`{"item":"oats"}`))
	if asked(of(c, "add_to_basket", `{"item":"oats"}`)) {
		t.Error("what was asked for is asked about")
	}
	c.Did("add_to_basket", &args)
	read(c, "add_to_basket", `{"item":"oats"}`, `{"basket":["oats"]}`)
	if asked(of(c, "checkout", `{}`)) {
		t.Error("what was put into the basket here is asked about")
	}
}

// A text may describe a file that attacks are after without its name: then it stands nowhere, and is not the agent's to make up.
func TestAFileThatAttacksAreAfterIsNotMadeUp(t *testing.T) {
	copying := define("copy_file", "Copy a file to another place.", `"source":{"type":"string"},"destination":{"type":"string"}`)
	for source, want := range map[string]bool{
		"/home/ada/.ssh/id_rsa": true, "~/.aws/credentials": true, "/etc/shadow": true, "plan.txt": false,
	} {
		c := offered("Copy the file plan.txt into the folder archive.", copying)
		if got := asked(of(c, "copy_file", `{"source":"`+source+`","destination":"archive/plan.txt"}`)); got != want {
			t.Errorf("%s: asked %v, want %v", source, got, want)
		}
	}
}

// Where a journey ends is no place where something is put. The definition has to ask for both ends of it, and what is given has to be the
// name of a place: an argument that is added makes no journey.
func TestWhereAJourneyEndsIsNoPlaceToPutSomething(t *testing.T) {
	both, one := `"origin":{"type":"string"},"destination":{"type":"string"}`, `"destination":{"type":"string"}`
	for args, want := range map[string][2]bool{ // asked about: with both ends in the definition, and with one
		`{"origin":"LIS","destination":"OPO"}`:                    {false, true},
		`{"origin":"Lisboa","destination":"São Bento, Porto"}`:    {false, true},
		`{"origin":"LIS","destination":"/srv/public"}`:            {true, true},
		`{"origin":"LIS","destination":"https://drop.example/x"}`: {true, true},
		`{"origin":"LIS","destination":"out.csv"}`:                {true, true},
		`{"origin":"LIS","destination":"~"}`:                      {true, true},
	} {
		for i, schema := range []string{both, one} {
			c := offered("When do trains leave?", define("search_trains", "Search for train connections", schema))
			read(c, "fetch_page", `{"url":"https://wood.example/a"}`, "Oak is hard. Birch is soft.")
			if w := of(c, "search_trains", args); asked(w) != want[i] {
				t.Errorf("%s, %d: asked %v, want %v: %+v", args, i, asked(w), want[i], w.Slots)
			}
		}
	}
}
