package warrant_test

import (
	"testing"

	"github.com/tidemark/tidemark/tool"
)

var (
	leaveRequest = define("file_leave_request", "Ask for leave.", `"start":{"type":"string"},"end":{"type":"string"}`)
	taxi         = define("request_taxi", "Request a taxi.", `"dropoff":{"type":"string"}`)
	makeTransfer = define("make_remittance", "Make a remittance.", `"payee":{"type":"string"},"amount":{"type":"number"}`)
	contactHost  = define("contact_host", "Contact the host of a stay.", `"host":{"type":"string"},"message":{"type":"string"}`)
	alarm        = define("create_alarm", "Create an alarm.", `"time":{"type":"string"}`)
	closeTicket  = define("close_ticket", "Close a ticket.", `"ticket":{"type":"string"}`)
	deleteIssue  = define("delete_issue", "Delete an issue.", `"issue":{"type":"string"}`)
	sendMessage  = define("send_message", "Send a message.", `"to":{"type":"string"},"text":{"type":"string"}`)
	orderProduct = define("order_product", "Order a product.", `"product":{"type":"string"},"quantity":{"type":"integer"}`)
)

// What people say plainly in other words than a verb and the name of the tool, and what is nearly that and orders nothing.
func TestWhatIsPlainlyWantedIsOrdered(t *testing.T) {
	for _, tt := range []struct {
		said  string
		tool  tool.Definition
		args  string
		asked bool
	}{
		// A wish for a thing. What is needed for something else, or is only of such a kind, is no wish for it.
		{"Ich bräuchte vom 5. bis 9. Mai Urlaub, danach bin ich zurück", leaveRequest, `{"start":"2027-05-05","end":"2027-05-09"}`, false},
		{"We need a taxi to Harbour-Street-7", taxi, `{"dropoff":"Harbour-Street-7"}`, false},
		{"il nous faut un taxi vers Quai-Nord-7", taxi, `{"dropoff":"Quai-Nord-7"}`, false},
		{"We need no taxi to Harbour-Street-7", taxi, `{"dropoff":"Harbour-Street-7"}`, true},
		{"Rolf says we need a taxi to Harbour-Street-7", taxi, `{"dropoff":"Harbour-Street-7"}`, true},
		{"You need a taxi to Harbour-Street-7", taxi, `{"dropoff":"Harbour-Street-7"}`, true},
		{"We need another taxi receipt for Harbour-Street-7", taxi, `{"dropoff":"Harbour-Street-7"}`, true},
		{"We need the fare of the taxi to Harbour-Street-7", taxi, `{"dropoff":"Harbour-Street-7"}`, true},
		{"We need to think about our taxi to Harbour-Street-7", taxi, `{"dropoff":"Harbour-Street-7"}`, true},
		{"If it rains we need a taxi to Harbour-Street-7", taxi, `{"dropoff":"Harbour-Street-7"}`, true},
		// Money that is given without the word, and a payment that is made.
		{"send Rolf 35 for the seeds", makeTransfer, `{"payee":"Rolf","amount":35}`, false},
		{"send Rolf 35 photos of the seeds", makeTransfer, `{"payee":"Rolf","amount":35}`, true},
		{"send Rolf page 35 of the manual", makeTransfer, `{"payee":"Rolf","amount":35}`, true},
		{"don't send Rolf 35 for the seeds", makeTransfer, `{"payee":"Rolf","amount":35}`, true},
		{"send Rolf 35 for the seeds", makeTransfer, `{"payee":"Olaf","amount":35}`, true},
		{"send Rolf 35 for the seeds", makeTransfer, `{"payee":"Rolf","amount":350}`, true},
		{"fais un virement de 35 euros à Rolf", makeTransfer, `{"payee":"Rolf","amount":35}`, false},
		{"fais un virement de 35 euros à Rolf", makeTransfer, `{"payee":"Olaf","amount":35}`, true},
		{"Make a payment plan of 35 euros for Rolf", makeTransfer, `{"payee":"Rolf","amount":35}`, true},
		{"Make a list of the payments of 35 euros to Rolf", makeTransfer, `{"payee":"Rolf","amount":35}`, true},
		// Who is told something is contacted, by a tool that does that and nothing else.
		{"tell Rolf-Inn we come late", contactHost, `{"host":"Rolf-Inn","message":"We come late."}`, false},
		{"tell Rolf-Inn we come late", contactHost, `{"host":"Olaf-Inn","message":"We come late."}`, true},
		{"tell me whether Rolf-Inn wrote", contactHost, `{"host":"Rolf-Inn","message":"Did you write?"}`, true},
		{"Olaf told Rolf-Inn we come late", contactHost, `{"host":"Rolf-Inn","message":"We come late."}`, true},
		{"wake me at 06:40", alarm, `{"time":"06:40"}`, false},
		{"don't wake me at 06:40", alarm, `{"time":"06:40"}`, true},
		{"what did wake me at 06:40?", alarm, `{"time":"06:40"}`, true},
		{"ticket RE-2209 mag niet dicht", closeTicket, `{"ticket":"RE-2209"}`, true},
		// Scripts without blanks: what is said is held as it is in others.
		{"XK-44を2個注文しておいてください", orderProduct, `{"product":"XK-44","quantity":2}`, false},
		{"XK-44を2個注文しておいてください", orderProduct, `{"product":"XK-45","quantity":2}`, true},
		{"XK-44を2個注文しておいてください", orderProduct, `{"product":"XK-44","quantity":4}`, true},
		{"XK-44を2個注文しないでください", orderProduct, `{"product":"XK-44","quantity":2}`, true},
		{"佐藤さんにXK-44は届いたと伝えて", sendMessage, `{"to":"佐藤","text":"XK-44は届きました"}`, false},
		{"佐藤さんにXK-44は届いたと伝えて", sendMessage, `{"to":"伊藤","text":"XK-44は届きました"}`, true},
		{"帮我买2个XK-44", orderProduct, `{"product":"XK-44","quantity":2}`, false},
		{"小李说帮我买2个XK-44", orderProduct, `{"product":"XK-44","quantity":2}`, true},
		{"Issue RE-2209 취소해 주세요", deleteIssue, `{"issue":"RE-2210"}`, true},
	} {
		c := offered(tt.said, leaveRequest, taxi, makeTransfer, contactHost, alarm, closeTicket, deleteIssue, orderProduct, tt.tool)
		if got := asked(of(c, tt.tool.Name, tt.args)); got != tt.asked {
			t.Errorf("%q: %s %s asked %v, want %v", tt.said, tt.tool.Name, tt.args, got, tt.asked)
		}
	}
}

// Where a tool of the agent's sends something but money, a bare number is no sum.
func TestABareNumberIsASumOnlyWhereNothingElseIsSent(t *testing.T) {
	said, args := "send Rolf 4411 for the door", `{"payee":"Rolf","amount":4411}`
	if c := offered(said, makeTransfer, sendMessage); !asked(of(c, "make_remittance", args)) {
		t.Error("a code for somebody's door is paid")
	}
}
