package toolinfo_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// brief is a parameter in a few words: role, kind, and "!" for the thing acted on.
func brief(p toolinfo.Param) string {
	s := p.Role.String() + " " + p.Kind.String()
	if p.Object {
		s += "!"
	}
	return s
}

// BEY-01
func TestParametersHaveRolesByTheirNames(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(`
mail_letter: to = target person; cc = target email; replyTo = selector id!; subject = content text; letter_body = content text
mail_letter: from_email = selector email; attachments = content text; send_at_once = unknown none; is_urgent = control none
mail_letter: address = target none; home_address = target none; e-mails = target email; toAddresses = target person; email_address = target email
dispatch_sms: number = target phone; to_number = target phone; phone_numbers = target phone; text = content text
post_in_room: room_id = target none; channel = target none; thread_id = selector id!; message = content text
wire_funds: iban = target iban; to_account = target iban; from_account = selector iban; amount_eur = amount money; memo = content text
wire_funds: beneficiary_name = target person; currency = control none; date = content date; pin_code = credential none
book_cabin: cabin = selector none!; nights = amount money; start_day = content date; destination = selector none!; guests = target person
buy_gadget: product_id = selector id!; quantity = amount money; shipping_address = target none; card_number = credential none; coupon_code = selector none!
share_folder: folder_id = selector id!; share_with = target person; user = target person; role = control none; link = target url
invite_colleague: user_email = target email; team_id = target person; username = target person
delete_letter: letter_id = selector id!; email = selector email!; ids = selector id!; query = selector none!
remove_member: user = selector person!; channel = selector none!
update_profile: home_address = selector none!; new_email = target email; phone = target phone; nickname = target person; user_id = selector person!
update_profile: password = credential none; api_key = credential none; first_name = content text; address = selector none!
move_file: source = selector none; destination = selector none!; path = selector path!
edit: file_path = selector path!; old_string = content text; newText = content text; replace_all = unknown none
find_letters: from = selector none; to = selector date; sender_email = selector email; q = selector text; page_token = control none
find_letters: max_tokens = control none; order_by = control none; sortBy = control none; limit = control none; title = selector none
find_trains: origin = selector none; destination = selector none; departure_date = selector date; max_price = control none; return_date = selector date
fetch_url: url = target url; headers = content text; timeout = control none
lookup_host: hostname = target host; ip_address = target host
run_program: command = command code; cwd = selector path!; args = command code; env = unknown none; server_url = target url
run_program: sql = command code; country_code = selector none!; verification_code = credential none; pythonCode = command code
create_snippet: code = content code; name = content text; language = control none; link = content url
attach_snippet: file_url = target url; snippet_id = selector id!
create_appointment: attendees = target person; location = content text; start = content date; title = content text
create_appointment: invitees[0].email = target email; items[2].file_id = selector id
unsubscribe_letters: url = target url; target_name = selector person!
run_program: user = selector person!; recipient_path = selector person!
zap: recipient = target person; blob = unknown none; thing_id = selector id!; url = target url
`), "\n") {
		name, list, _ := strings.Cut(line, ": ")
		m := toolinfo.Of(tool.Definition{Name: name})
		for entry := range strings.SplitSeq(list, "; ") {
			path, want, _ := strings.Cut(entry, " = ")
			if got := brief(m.Resolve(path, nil)); got != want {
				t.Errorf("%s %s: got %s, want %s", name, path, got, want)
			}
		}
	}
}

// BEY-01
func TestASchemaSaysMoreThanNames(t *testing.T) {
	for _, c := range []struct {
		name, tool, schema, path, want string
	}{
		{"a format makes a target of any name", "mail_letter", `{"properties":{"x":{"type":"string","format":"email"}}}`, "x", "target email"},
		{"a list of a format", "mail_letter", `{"properties":{"x":{"type":"array","items":{"type":"string","format":"email"}}}}`, "x[4]", "target email"},
		{"words make a target of any name", "wire_funds", `{"properties":{"x":{"type":"string","description":"IBAN of whoever is paid"}}}`, "x", "target iban"},
		{"words tell the kind of a target", "wire_funds", `{"properties":{"payee":{"type":"string","description":"their IBAN"}}}`, "payee", "target iban"},
		{"one of several types", "mail_letter", `{"properties":{"cc":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]}}}`, "cc", "target email"},
		{"a list of types", "zap", `{"properties":{"x":{"type":["boolean"]}}}`, "x", "control none"},
		{"a reference", "mail_letter", `{"$defs":{"p":{"type":"object","properties":{"email":{"type":"string"}}}},"properties":{"who":{"$ref":"#/$defs/p"}}}`, "who.email", "target email"},
		{"objects in a list", "mail_letter", `{"properties":{"files":{"type":"array","items":{"type":"object","properties":{"file_id":{"type":"string"}}}}}}`, "files[3].file_id", "selector id"},
		{"listed values are a choice", "find_letters", `{"properties":{"x":{"enum":["a","b"]}}}`, "x", "control none"},
		{"listed values of a target stay one", "mail_letter", `{"properties":{"to":{"enum":["a","b"]}}}`, "to", "target person"},
		{"a constant is a choice", "zap", `{"properties":{"x":{"const":1}}}`, "x", "control none"},
		{"a boolean is a switch whatever its name", "mail_letter", `{"properties":{"body":{"type":"boolean"}}}`, "body", "control none"},
		{"a number that names nothing", "zap", `{"properties":{"x":{"type":"integer"}}}`, "x", "control none"},
		{"a street is data", "create_contact", `{"properties":{"address":{"type":"string","description":"street and city"}}}`, "address", "content text"},
		{"a street is a target of what is sent", "mail_letter", `{"properties":{"address":{"type":"string","description":"street and city"}}}`, "address", "target none"},
		{"an e-mail address", "create_contact", `{"properties":{"address":{"type":"string","description":"e-mail address"}}}`, "address", "target email"},
		{"the end of a range", "find_letters", `{"properties":{"to":{"type":"string","format":"date"}}}`, "to", "selector date"},
		{"the end of a range in a change", "update_report", `{"properties":{"to":{"type":"string","description":"last day"}}}`, "to", "selector date"},
		{"a format does not hide an addressee", "mail_letter", `{"properties":{"to":{"type":"string","format":"date"}}}`, "to", "target person"},
		{"whom a search looks for", "find_letters", `{"properties":{"to":{"type":"string","description":"the recipient"}}}`, "to", "selector person"},
		{"a path by its words", "zap", `{"properties":{"x":{"type":"string","description":"absolute path"}}}`, "x", "selector path!"},
		{"a date by its format", "create_note", `{"properties":{"x":{"type":"string","format":"date-time"}}}`, "x", "content date"},
		{"program text by its words", "run_job", `{"properties":{"x":{"type":"string","description":"Python to run"}}}`, "x", "command code"},
		{"a password by its format", "zap", `{"properties":{"x":{"type":"string","format":"password"}}}`, "x", "credential none"},
		{"a secret by its words", "zap", `{"properties":{"x":{"type":"string","description":"the token"}}}`, "x", "credential none"},
		{"an addressee by words", "zap", `{"properties":{"x":{"type":"string","description":"who is the recipient"}}}`, "x", "target person"},
		{"a host by its format", "find_letters", `{"properties":{"x":{"type":"string","format":"ipv4"}}}`, "x", "target host"},
		{"what a search is given", "find_letters", `{"properties":{"x":{"type":"string"}}}`, "x", "selector none"},
		{"nothing known", "zap", `{"properties":{"x":{}}}`, "x", "unknown none"},
		{"all of several", "mail_letter", `{"allOf":[{"properties":{"to":{"type":"string"}}}]}`, "to", "target person"},
		{"an id of a mail", "delete_letter", `{"properties":{"email_id":{"type":"string","description":"id of the email"}}}`, "email_id", "selector id!"},
		{"kinds by format", "zap", `{"properties":{"x":{"format":"iban"}}}`, "x", "target iban"},
		{"phone by format", "zap", `{"properties":{"x":{"format":"tel"}}}`, "x", "target phone"},
		{"address by format", "zap", `{"properties":{"x":{"format":"uri"}}}`, "x", "target url"},
		{"phone by words", "zap", `{"properties":{"x":{"description":"phone"}}}`, "x", "target phone"},
		{"a number by its words", "zap", `{"properties":{"x":{"type":"integer","description":"how many"}}}`, "x", "control none"},
		{"a website by words", "zap", `{"properties":{"x":{"description":"the website"}}}`, "x", "target url"},
		{"a password has no kind", "mail_letter", `{"properties":{"to":{"format":"password"}}}`, "to", "credential person"},
		{"id by format", "update_entry", `{"properties":{"entry":{"format":"uuid"}}}`, "entry", "selector id!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := toolinfo.Of(tool.Definition{Name: c.tool, Schema: []byte(c.schema)})
			p, ok := m.Param(c.path)
			if !ok {
				t.Fatalf("no parameter %s in %+v", c.path, m.Params)
			}
			if got := brief(p); got != c.want {
				t.Errorf("got %s, want %s (%s)", got, c.want, p.Why)
			}
		})
	}
}

// BEY-01
func TestAValueThatLooksLikeSomebodyIsATarget(t *testing.T) {
	for _, c := range []struct {
		tool, path string
		value      any
		want       string
	}{
		{"mail_letter", "blob", "ann@post.example", "target email"},
		{"mail_letter", "blob", "Ann <ann@post.example>", "target email"},
		{"mail_letter", "blob", []any{1.0, "", "ann@post.example"}, "target email"},
		{"mail_letter", "blob", "write to ann@post.example", "unknown none"},
		{"mail_letter", "blob", "ann@post", "unknown none"},
		{"mail_letter", "thing_id", "ann@post.example", "target email"},
		{"mail_letter", "mode", "ann@post.example", "target email"},
		{"mail_letter", "subject", "ann@post.example", "content text"},
		{"wire_funds", "blob", "XY12 3456 7890 1234 5678", "target iban"},
		{"wire_funds", "blob", "XYZ2 3456 7890 1234 5678", "unknown none"},
		{"wire_funds", "blob", "XY12-3456", "unknown none"},
		{"wire_funds", "blob", "XY12_3456", "unknown none"},
		{"share_folder", "blob", "https://drop.example/x", "target url"},
		{"share_folder", "blob", "www.drop.example", "target url"},
		{"share_folder", "blob", "mailto:ann@post.example", "target url"},
		{"share_folder", "blob", "file:///tmp/x", "unknown none"},
		{"share_folder", "blob", "a b://c", "unknown none"},
		{"share_folder", "blob", "a|b://c", "unknown none"},
		{"dispatch_sms", "blob", "+49 (30) 123-4567", "target phone"},
		{"dispatch_sms", "blob", "+49 x", "unknown none"},
		{"dispatch_sms", "blob", "+4930", "unknown none"},
		{"read_page", "path", "https://drop.example/x", "target url"},
		{"read_page", "path", "ann@post.example", "selector path"},
		{"read_page", "query", "https://drop.example/x", "selector text"},
		{"delete_letter", "thing_id", "ann@post.example", "selector id!"},
		{"zap", "blob", strings.Repeat("x", 4000) + "@post.example", "unknown none"},
		{"zap", "flag", true, "control none"},
		{"zap", "blob", map[string]any{"a": 1}, "unknown none"},
		{"zap", "blob", []any{"x"}, "unknown none"},
		{"zap", "blob", 3.0, "control none"},
		{"zap", "", "x", "unknown none"},
	} {
		m := toolinfo.Of(tool.Definition{Name: c.tool})
		if p := m.Resolve(c.path, c.value); brief(p) != c.want {
			t.Errorf("%s %s = %v: got %s, want %s", c.tool, c.path, c.value, brief(p), c.want)
		}
	}
}

// BEY-01
func TestParametersCorrectTheActOnlyUpwards(t *testing.T) {
	for _, c := range []struct{ name, tool, schema, want string }{
		{"an entry that invites somebody is grave", "create_appointment", `{"properties":{"title":{},"attendees":{"type":"array"}}}`, "create high sink"},
		{"one that cannot is not", "create_appointment", `{"properties":{"title":{}}}`, "create low"},
		{"a link kept in a note", "create_note", `{"properties":{"link":{"type":"string"}}}`, "create low"},
		{"a job that takes a command", "add_entry", `{"properties":{"shell_command":{"type":"string"}}}`, "execute high source sink"},
		{"a look that takes a command", "get_entry", `{"properties":{"sql":{"type":"string"}}}`, "execute high source sink"},
		{"a sum and an account", "create_plan", `{"properties":{"amount":{"type":"number"},"iban":{"type":"string"}}}`, "pay high sink"},
		{"a method and an address", "fetch_data", `{"properties":{"method":{"enum":["GET","POST"]},"url":{"type":"string"}}}`, "send high source sink reaches"},
		{"an address alone", "fetch_data", `{"properties":{"url":{"type":"string"}}}`, "read low source reaches"},
		{"a new password among other things", "update_note", `{"properties":{"password":{"type":"string"}}}`, "change high sink source"},
		{"a letter that takes a command", "mail_letter", `{"properties":{"command":{"type":"string"}}}`, "send high sink"},
		{"a schema that cannot be read", "mail_letter", `{"properties":{"to":1,"to":2}}`, "send high sink"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := toolinfo.Of(tool.Definition{Name: c.tool, Schema: []byte(c.schema)})
			got, want := strings.Fields(flagged(m)), strings.Fields(c.want)
			if diff := cmp.Diff(asSet(want), asSet(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", m.Why, diff)
			}
		})
	}
}

func asSet(list []string) map[string]bool {
	s := map[string]bool{}
	for _, w := range list {
		s[w] = true
	}
	return s
}

// BEY-01
func TestACallThatNamesNobodyIsLighter(t *testing.T) {
	m := toolinfo.Of(tool.Definition{Name: "create_appointment", Schema: []byte(`{"properties":{"attendees":{"type":"array"}}}`)})
	if m.Gravity != toolinfo.High || m.Bare != toolinfo.Low {
		t.Errorf("got gravity %s and %s bare, want high and low", m.Gravity, m.Bare)
	}
}
