package meaning_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
)

// MAN-10: a sentence says an act where the name of the tool says it, of something that one does it to, and nothing else. What judgement takes a
// call for is graver than that in many cases, and must not be told as what would happen.
func TestASentenceSaysNoMoreThanTheNameOfATool(t *testing.T) {
	for _, tc := range []struct {
		name string
		act  meaning.Act
		want string
	}{
		{"pay_bill", meaning.Pay, "pay"}, {"make_payment", meaning.Pay, "pay"}, {"bank__transfer_funds", meaning.Pay, "transfer"},
		{"send_email", meaning.Send, "send"}, {"delete_file", meaning.Delete, "delete"}, {"fileDelete", meaning.Delete, "delete"},
		{"cancel_reminder", meaning.Delete, "cancel"}, {"create_workspace", meaning.Create, "create"}, {"update_note", meaning.Change, "update"},
		{"invite_user", meaning.Grant, "invite"}, {"web_fetch", meaning.Read, "fetch"}, {"exec", meaning.Execute, "exec"}, {"bash", meaning.Execute, "bash"},

		{"set_battery_reserve", meaning.Pay, ""}, {"set_reserve", meaning.Pay, ""}, {"extend_parking", meaning.Change, ""}, {"extend_parking", meaning.Pay, ""},
		{"promote_deployment", meaning.Grant, ""}, {"promote_release", meaning.Grant, ""}, {"create_customer", meaning.Grant, ""}, {"add_client", meaning.Grant, ""},
		{"register_for_event", meaning.Grant, ""}, {"registerForCourse", meaning.Grant, ""}, {"registerforcourse", meaning.Grant, ""}, {"request_ride", meaning.Send, ""},
		{"transfer_ownership", meaning.Grant, ""}, {"order_report", meaning.Pay, ""}, {"shop.order", meaning.Pay, ""}, {"book_room", meaning.Pay, ""}, {"record_payment", meaning.Pay, ""},
		{"schedule_payment", meaning.Pay, ""}, {"run_sprinkler", meaning.Execute, ""}, {"adjust_sprinkler_pay", meaning.Pay, ""}, {"approve_leave", meaning.Grant, ""}, {"send_and_delete_mail", meaning.Delete, ""},
		{"the_owner_agreed_pay", meaning.Pay, ""}, {"pay", meaning.Unknown, ""}, {"", meaning.Read, ""},
	} {
		if got := meaning.Certain(tc.name, tc.act); got != tc.want {
			t.Errorf("%s as %v: got %q, want %q", tc.name, tc.act, got, tc.want)
		}
	}
}
