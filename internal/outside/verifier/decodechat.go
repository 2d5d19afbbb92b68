package verifier

import (
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// DecodeChat reads a chat outside the verifier's section: where approval questions are
// asked.
func DecodeChat(d *configfile.Decoder, n *configfile.Node, env func(string) (string, bool), production bool) *TelegramConfig {
	return (&reader{d, env, production}).telegram(n)
}

// telegram reads the chat. One that is not enabled may be incomplete, its token unset; an
// agent that turns it on needs it whole.
func (r *reader) telegram(n *configfile.Node) *TelegramConfig {
	t := &TelegramConfig{Enabled: true, Timeout: DefaultTelegramTimeout}
	if v := n.Get("enabled"); v != nil {
		t.Enabled = v.Kind != configfile.Bool || v.Bool
	}
	r.Fields(n, map[string]func(*configfile.Node){
		"enabled": func(n *configfile.Node) { r.Bool(n) },
		"botToken": func(n *configfile.Node) {
			if t.Enabled {
				t.BotToken, _ = r.secret(n)
			} else if v, _, slips := expand(n.Text, r.env); len(slips) == 0 {
				t.BotToken = Secret(v)
			}
		},
		"chatId":         func(n *configfile.Node) { t.ChatID = r.chat(n) },
		"timeout":        func(n *configfile.Node) { t.Timeout = r.seconds(n, 1, 3600) },
		"allowedUserIds": func(n *configfile.Node) { t.AllowedUserIDs = r.users(n) },
		"baseUrl":        func(n *configfile.Node) { t.BaseURL = strings.TrimSuffix(r.address(n), "/") },
	})
	if id, err := strconv.ParseInt(t.ChatID, 10, 64); err == nil && id > 0 && n.Get("allowedUserIds") == nil {
		t.AllowedUserIDs = []int64{id} // a chat with one person has that person's number
	}
	r.wholeChat(n, t)
	return t
}

// wholeChat reports what is missing where people are to be asked.
func (r *reader) wholeChat(n *configfile.Node, t *TelegramConfig) {
	if !t.Enabled || !n.Empty() && n.Kind != configfile.Map {
		return
	}
	for _, key := range []string{"botToken", "chatId"} {
		if n.Get(key) == nil {
			r.Errorf(n.Pos, "%s needs %s", n.Path, key)
		}
	}
	if t.ChatID != "" && len(t.AllowedUserIDs) == 0 && n.Get("allowedUserIds") == nil {
		r.Warnf(n.Pos, "%s has no allowedUserIds: everybody in its chat can decide", n.Path)
	}
}

// agentTelegram is an agent's switch for the file's chat. It has no chat of its own: two
// bots on one token would take each other's answers away.
func (r *reader) agentTelegram(n *configfile.Node, file *Config) *bool {
	var on *bool
	r.Fields(n, map[string]func(*configfile.Node){
		"enabled": func(n *configfile.Node) {
			on = r.choice(n, file.Telegram != nil && file.Telegram.Enabled)
			if on != nil && *on && !file.Telegram.complete() {
				r.Hintf(n.Pos, "give botToken, chatId and allowedUserIds there", "%s is true, but the file's telegram section is not complete", n.Path)
			}
		},
	})
	return on
}

// chat is a number, in quotes or not, or the @name of a channel.
func (r *reader) chat(n *configfile.Node) string {
	if n.Kind == configfile.Int {
		return strconv.FormatInt(n.Int, 10)
	}
	v, ok := r.Text(n)
	if !ok {
		return ""
	}
	if _, err := strconv.ParseInt(v, 10, 64); err != nil && (len(v) < 2 || v[0] != '@') {
		r.Errorf(n.Pos, "%s must be the number of a chat or the @name of a channel", n.Path)
		return ""
	}
	return v
}

func (r *reader) users(n *configfile.Node) []int64 {
	items, before := r.Items(n), len(r.Faults)
	var out []int64
	for _, item := range items {
		if id, ok := r.Int(item, 1, 1<<62); ok {
			out = append(out, id)
		}
	}
	if len(items) == 0 && len(r.Faults) == before {
		r.Errorf(n.Pos, "%s names nobody", n.Path)
	}
	return out
}
