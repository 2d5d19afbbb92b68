package toolinfo_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// SEQ-02, BEY-01
func TestTheVerbOfANameIsFoundBehindWhatStandsInFront(t *testing.T) {
	for line := range strings.Lines(`
docker_remove | | delete
docker_show | | read
docker_events | Shows what happened. | read
docker_events | | execute
docker_any | Returns nothing of note. | read
bash_find | | read
bash_tool | Returns the answer. | execute
python_code | Returns what it prints. | execute
node_overview | | read
api-post-letter | | send
api-post-lookup | Looks letters up by their title. | read
api-patch-entry | | change
api-delete-entry | Returns an entry. | delete
unresolve_entry | | change
unpublish_entry | | delete
undeploy_thing | | delete
get_unread_entries | | read
resend_letter | | send
redeploy_thing | | execute
reload_thing | | unknown
release_notes | | unknown
show_broadcast | | read
compose_outline | | create
compose_letter | | send
write_letter | | send
dismiss_reminder | | change
add_reaction | | create
create_estimate | | create
start_tracing | | change
connect_to_board | | change
connect_account | | grant
disseminate_research | | unknown
`) {
		part := strings.Split(line, "|")
		if len(part) != 3 {
			continue
		}
		name, about, want := strings.TrimSpace(part[0]), strings.TrimSpace(part[1]), strings.TrimSpace(part[2])
		if m := toolinfo.Of(tool.Definition{Name: name, Description: about}); m.Act.String() != want {
			t.Errorf("%s (%s): got %s, want %s (%s)", name, about, m.Act, want, m.Why)
		}
	}
}

// SEQ-02
func TestADescriptionIsHeardToTheEndOfItsVerbs(t *testing.T) {
	for _, c := range []struct{ name, tool, about, want string }{
		{"the gravest of a list", "entries", "Create, list or remove entries.", "delete high sink"},
		{"what is managed", "entries", "Manages entries: hide, sort, or delete them.", "delete high sink"},
		{"managing that names only looks", "entries", "Manages questions about entries, such as checking them.", "unknown high source sink"},
		{"a heading", "entries", "**Purpose:** Removes entries.", "delete high sink"},
		{"a heading before a bar", "entries", "Letterbox | Removes entries.", "delete high sink"},
		{"an act in a noun", "entries", "Performs a search of the entries.", "read none source"},
		{"a grave act in a noun", "entries", "Initiates the removal of all entries.", "delete high sink"},
		{"two things are not two acts", "get_entry", "Get an entry by id or email from the list.", "read none source"},
		{"two acts are", "get_entry", "Get an entry and email the list.", "send high sink"},
		{"a look that sets", "get_entry", "Gets or updates an entry.", "change low"},
		{"a name that plays is not talked into a search", "play_tune", "Searches for a tune and plays it.", "change high sink"},
		{"a change that also removes", "update_entry", "Set or remove the entry.", "change high sink"},
		{"a statement is no question", "write_rows", "Execute an INSERT or UPDATE query.", "execute high source sink"},
		{"what is not sent yet", "create_campaign", "Makes a campaign. Does not send it.", "create high sink"},
		{"an announcement is", "create_campaign", "Makes a campaign, optionally with a draft.", "send high sink"},
		{"opened in the user's own book", "open_zap", "Opens a zap in the notebook.", "read none source"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if m := toolinfo.Of(tool.Definition{Name: c.tool, Description: c.about}); flagged(m) != c.want {
				t.Errorf("got %s, want %s (%s)", flagged(m), c.want, m.Why)
			}
		})
	}
}

// BEY-01
func TestThingsMakeAnActOfALook(t *testing.T) {
	for name, want := range map[string]toolinfo.Act{
		"capture_deposit": toolinfo.Pay, "collect_fee": toolinfo.Pay, "pull_money": toolinfo.Pay, "load_wallet": toolinfo.Pay,
		"pull_branch": toolinfo.Change, "pull_figures": toolinfo.Read, "select_seat": toolinfo.Change, "select_rows": toolinfo.Read,
		"watch_ticket": toolinfo.Change, "watch_logs": toolinfo.Read, "capture_image": toolinfo.Read,
	} {
		if m := toolinfo.Of(tool.Definition{Name: name}); m.Act != want {
			t.Errorf("%s: got %s, want %s (%s)", name, m.Act, want, m.Why)
		}
	}
}

// SEQ-02
func TestAHintSettlesOnlyWhatTheNameLeavesOpen(t *testing.T) {
	for _, c := range []struct {
		tool, about string
		readOnly    bool
		want        toolinfo.Act
	}{
		{"verify_entry", "", false, toolinfo.Change},
		{"verify_entry", "", true, toolinfo.Read},
		{"list_entries", "", false, toolinfo.Read},
		{"generate_outline", "", true, toolinfo.Read},
		{"generate_outline", "", false, toolinfo.Create},
		{"generate_token", "", true, toolinfo.Grant},
		{"generate_outline", "Sends the outline to everybody.", true, toolinfo.Send},
		{"create_outline", "", true, toolinfo.Create},
	} {
		m := toolinfo.Of(tool.Definition{Name: c.tool, Description: c.about, ReadOnly: hint(c.readOnly)})
		if m.Act != c.want {
			t.Errorf("%s, read-only %t: got %s, want %s (%s)", c.tool, c.readOnly, m.Act, c.want, m.Why)
		}
	}
}
