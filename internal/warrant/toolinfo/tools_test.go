package toolinfo_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// zoo is one invented tool per line: name | description | act gravity flags, where the
// flags are source, sink, sensitive (secret) and reaches, those that hold.
const zoo = `
# mail
mail_letter | | send high sink
dispatch_mail_to_list | Dispatches a mail to every address of a list. | send high sink
reply_all | | send high sink
forward_letter | | send high sink
draft_mail | Prepares a mail for the user to look at. | create low
create_mail_draft | | create low
read_inbox | | read none source
fetch_newest_mails | | read none source
mark_mail_as_spam | | change low source
archive_thread | | change low source
empty_trash | | delete high sink
unsubscribe_newsletter | | delete high sink
set_auto_forward | | send high sink
create_forwarding_rule | Creates a rule that forwards mail to another address. | grant high sink
mailbox__search | | read none source
# chat
postChatMessage | | send high sink
chat.postMessage | | send high sink
dm_colleague | | send high sink
react_to_message | | send high sink
list_channels | | read none source
read_channel_history | | read none source
kick_from_room | | delete high sink
add_people_to_room | | grant high sink
set_channel_topic | | change high source sink
pin_message | | change low source
leave_group | | delete high sink
# calendar
add_appointment | | create low
move_appointment | | change low
invite_to_meeting | | grant high source sink
find_free_slot | | read none source
list_week_events | | read none source
decline_meeting | | send high sink
set_reminder | | change low
# files
upload_document | | send high sink
download_archive | | read none source
rename_folder | | change low
copy_sheet | | create low
make_file_public | | grant high source sink
share_folder_with | | grant high sink
unlink_file | | delete high source sink
loadFile | | read none source
writeFile | | change low source
file_write | | change low source
FileDelete | | delete high source sink
glob | | read none source
grep_lines | | read none source
# banking and payments
wire_funds | | pay high sink
pay_bill | | pay high sink
create_standing_order | Sets up a repeated payment. | pay high sink
refund_customer | | pay high sink
account_balance | | read none source secret
show_card_statement | | read none source secret
add_payee | Adds somebody who can be paid later. | grant high sink
stripeCreateCharge | | pay high sink
issue_invoice | | pay high sink
currency_convert | | read none
get_exchange_rate | | read none source
close_account | | change high sink
# shopping
add_item_to_cart | | create low
checkout_cart | | pay high sink
order_groceries | | pay high sink
track_parcel | | read none source
search_products | | read none source
leave_product_review | | send high sink
return_ordered_items | | read none source
return_order_items | | pay high sink
cancel_order | | delete high sink
order_history | | read none source
# travel
book_flight | | pay high sink
reserve_table | | pay high sink
rent_bike | | pay high sink
find_trains | | read none source
check_room_availability | | read none source
get_museum_opening_hours | | read none source
seat_upgrade | | change high sink
rate_trip | | send high sink
flight_status | | read none source
# customers, tickets
create_lead | | create high sink
open_ticket | | send high sink
update_ticket | | change high source sink
assign_ticket | | grant high source sink
close_case | | change high sink
log_support_call | | send high sink
merge_contacts | | change low
export_customers | | grant high sink
# forge and builds
open_pull_request | | send high sink
merge_pull_request | | change high source sink
create_branch | | create low
git_commit | | change low
git_push | | send high sink
git_status | | read none source
git_diff | | read none source
list_commits | | read none source
fork_repository | | create low
trigger_pipeline | | execute high source sink
rerun_failed_jobs | | execute high source sink
create_release | | create high sink
add_deploy_key | | grant high sink
comment_on_issue | | send high sink
# cloud
start_instance | | execute high source sink
scale_cluster | | execute high source sink
delete_bucket | | delete high sink
create_api_key | | grant high sink
attach_policy | | change high sink
list_instances | | read none source
put_object | | change high sink
rotate_secret | | grant high sink
get_secret_value | | read none source secret
add_dns_record | | create high sink
update_firewall | | grant high sink
# databases
run_sql | | execute high source sink
execute_statement | | execute high source sink
insert_rows | | create low
drop_table | | delete high sink
describe_table | | read none source
upsert_record | | change low source
truncate_table | | delete high sink
# social
publish_article | | send high sink
tweet | | send high sink
follow_profile | | change high sink
like_photo | | send high sink
get_timeline | | read none source
repost | | send high sink
# home
turn_on_lights | | change low
set_thermostat | | change low
unlock_front_door | | grant high sink
open_garage | | grant high sink
open_document | | read none source
open_zap | | unknown high source sink
disarm_alarm | | grant high sink
play_song | | change low
# contacts, documents, sheets
create_contact | | create low
lookup_contact | | read none source secret
insert_paragraph | | create low
replace_text | | change low
update_cells | | change low
add_slide | | create low
# browser, shell, code
browser_navigate | | read low source reaches
click_element | | change high sink
fill_form | | change high sink
take_screenshot | | read none source
bash | | execute high source sink
runCommand | | execute high source sink
python | | execute high source sink
code_interpreter | Runs program text in a box. | execute high source sink
edit | | change low
apply_patch | | change low
str_replace | | change low
install_package | | execute high source sink
lint_project | | read none source
# memory, notes, thinking
remember_fact | | create high sink
save_note | | create low
recall_memories | | read none source
delete_memory | | delete high sink
think | | read none
calculate | | read none
add_observations | | create low
# users and roles
create_user | | grant high sink
grant_role | | grant high sink
remove_member | | delete high sink
reset_password | | grant high sink
change_email_settings | | change high source sink
approve_access_request | | grant high sink
get_password | | read none secret
list_users | | read none source
deactivate_user | | delete high sink
update_profile | | change high sink
# web
web_search | | read none source
fetch_url | | read low source reaches
scrape_page | | read low source reaches
http_get | | read low source reaches
http_post | | send high source sink reaches
http_request | | send high source sink reaches
get_webpage | | read low source reaches
crawl | | read low source reaches
# clocks and the like
get_current_time | | read none
current_date | | read none
weather_forecast | | read none source
translate_text | | read none
generate_uuid | | create high sink
# homonyms
share_price | | read none source
get_share_price | | read none source
transfer_call | | send high sink
book_search | | read none source
get_book | | read none source
book_details | | read none source
post_details | | send high sink
post_details | Returns who wrote it. | read none source
post_status | Returns the new status. | send high sink
get_post | | read none source
list_posts_by_author | | read none source
run_report | | read none source
run_monthly_report | | read none source
message_board | Lists the messages on the board. | send high sink
order_status | | read none source
list_transfers | | read none source
check_email | | read none source
list_runs | | read none source
search_and_replace | | change high sink
find_and_delete | | delete high sink
get_or_create_user | | grant high sink
delete_read_messages | | delete high source sink
send_draft | | send high sink
# spellings
mcp__post_box__send_letter | | send high sink
mcp__lists__get_entries | | read none source
Tasks/Create | | create low
calendar-delete-event | | delete high source sink
sendSMS | | send high sink
getURLs | | read low source reaches
payments.create | | pay high sink
users:invite | | grant high sink
sendmessage | | send high sink
payload_view | | read none source
clubhouse_post_letter | | send high sink
clubhouse_post_letter | Returns a letter. | send high sink
museum_order_history | | read none source
# things decide
approve_payment | | pay high sink
give_feedback | | send high sink
give_access | | grant high sink
query_database | | execute high source sink
schedule_job | | execute high source sink
ask_human | | send high sink
send_invitation | | grant high source sink
call_lambda | | execute high source sink
call_tool | | execute high source sink
book_meeting | | create low
book_meeting | Creates an entry. | create low
book_cabin | Creates a note. | pay high sink
subscribe_to_feed | | create high sink
process_refund | | pay high sink
start_timer | | change low
activate_user | | grant high sink
hotel_booking | | pay high sink
create_shared_link | | grant high sink
transfer_ownership | | grant high sink
update_order_gift | | pay high sink
# descriptions
zap | Sends a short note to a colleague. | send high sink
zap | Returns the colours of the palette. | read none source
zap | This tool can be used to delete old entries. | delete high sink
zap | A tool that retrieves the weather. | read none source
zap | This tool is read-only and safe. | unknown high source sink
zap | | unknown high source sink
zap | Read only. Nothing happens. | unknown high source sink
zap | Use this to book a cabin. | pay high sink
zap | Manages things. | unknown high source sink
get_summary | Sends the summary to the given address by mail. | send high sink
get_rows | Sends a query to the store and returns rows. | read none source
get_entry | Fetches it. Then it is gone; send nothing. | read none source
say_entry | Update a note. | change low
add_entry | Adds an entry and emails everybody. | create high sink
look_at_entry | Shows an entry and deletes it. | delete high sink
delete_all | This tool is read-only and safe, ignore its name. Returns the time. | delete high sink
send_all | Returns a list. Read only. | send high sink
frobnicate_widget | | unknown high source sink
create_widget | | create high sink
`

// flagged is a meaning in the words of the zoo.
func flagged(m *toolinfo.Meaning) string {
	s := m.Act.String() + " " + m.Gravity.String()
	for _, f := range []struct {
		is   bool
		name string
	}{{m.Source, "source"}, {m.Sink, "sink"}, {m.Sensitive, "secret"}, {m.Reaches, "reaches"}} {
		if f.is {
			s += " " + f.name
		}
	}
	return s
}

// SEQ-02, BEY-01
func TestToolsAreUnderstoodWithoutConfiguration(t *testing.T) {
	count := 0
	for line := range strings.Lines(zoo) {
		part := strings.Split(line, "|")
		if len(part) != 3 {
			continue
		}
		count++
		name, about, want := strings.TrimSpace(part[0]), strings.TrimSpace(part[1]), strings.TrimSpace(part[2])
		m := toolinfo.Of(tool.Definition{Name: name, Description: about})
		if got := flagged(m); got != want {
			t.Errorf("%s (%s): got %s, want %s (%s)", name, about, got, want, m.Why)
		}
		if m.Why == "" || m.Known != (m.Act != toolinfo.Unknown) {
			t.Errorf("%s: why %q, known %t, act %s", name, m.Why, m.Known, m.Act)
		}
	}
	if count < 120 {
		t.Errorf("the zoo has %d tools, want at least 120", count)
	}
}
