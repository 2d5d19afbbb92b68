package toolinfo_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
)

// MAN-10: a sentence says an act where the name of the tool says it, of something that one does it to, and nothing else. What judgement takes a
// call for is graver than that in many cases, and must not be told as what would happen.
func TestASentenceSaysNoMoreThanTheNameOfATool(t *testing.T) {
	for _, tc := range []struct {
		name string
		act  toolinfo.Act
		want string
	}{
		{"pay_bill", toolinfo.Pay, "pay"}, {"make_payment", toolinfo.Pay, "pay"}, {"bank__transfer_funds", toolinfo.Pay, "transfer"},
		{"send_email", toolinfo.Send, "send"}, {"delete_file", toolinfo.Delete, "delete"}, {"fileDelete", toolinfo.Delete, "delete"},
		{"cancel_reminder", toolinfo.Delete, "cancel"}, {"create_workspace", toolinfo.Create, "create"}, {"update_note", toolinfo.Change, "update"},
		{"invite_user", toolinfo.Grant, "invite"}, {"web_fetch", toolinfo.Read, "fetch"}, {"exec", toolinfo.Execute, "exec"}, {"bash", toolinfo.Execute, "bash"},

		{"set_battery_reserve", toolinfo.Pay, ""}, {"set_reserve", toolinfo.Pay, ""}, {"extend_parking", toolinfo.Change, ""}, {"extend_parking", toolinfo.Pay, ""},
		{"promote_deployment", toolinfo.Grant, ""}, {"promote_release", toolinfo.Grant, ""}, {"create_customer", toolinfo.Grant, ""}, {"add_client", toolinfo.Grant, ""},
		{"register_for_event", toolinfo.Grant, ""}, {"registerForCourse", toolinfo.Grant, ""}, {"registerforcourse", toolinfo.Grant, ""}, {"request_ride", toolinfo.Send, ""},
		{"transfer_ownership", toolinfo.Grant, ""}, {"order_report", toolinfo.Pay, ""}, {"shop.order", toolinfo.Pay, ""}, {"book_room", toolinfo.Pay, ""}, {"record_payment", toolinfo.Pay, ""},
		{"schedule_payment", toolinfo.Pay, ""}, {"run_sprinkler", toolinfo.Execute, ""}, {"adjust_sprinkler_pay", toolinfo.Pay, ""}, {"approve_leave", toolinfo.Grant, ""}, {"send_and_delete_mail", toolinfo.Delete, ""},
		{"the_owner_agreed_pay", toolinfo.Pay, ""}, {"pay", toolinfo.Unknown, ""}, {"", toolinfo.Read, ""},
	} {
		if got := toolinfo.Certain(tc.name, tc.act); got != tc.want {
			t.Errorf("%s as %v: got %q, want %q", tc.name, tc.act, got, tc.want)
		}
	}
}
