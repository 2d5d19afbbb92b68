package telegram

import (
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
)

// DefaultTimeout is how long people have to answer where a file does not say.
const DefaultTimeout = 120 * time.Second

// Settings are what a file says about a chat whose members are asked.
type Settings struct {
	Enabled        bool
	BotToken       endpoint.Secret
	ChatID         string // a number or @name
	Timeout        time.Duration
	AllowedUserIDs []int64 // whose answer counts; empty: everybody's in the chat
	BaseURL        string  // of the Bot API; empty is Telegram's own
}

// Complete reports whether there is enough to ask somebody.
func (s *Settings) Complete() bool { return s.BotToken != "" && s.ChatID != "" }

// Options are those of a bot in that chat.
func (s *Settings) Options(logger *slog.Logger) Options {
	return Options{
		Token: string(s.BotToken), ChatID: s.ChatID, AllowedUserIDs: s.AllowedUserIDs, BaseURL: s.BaseURL, Logger: logger,
	}
}

// ReadSettings reads a section that describes a chat. One that is not enabled may be
// incomplete, its token unset; whoever turns it on needs it whole.
func ReadSettings(r *endpoint.Reader, n *configfile.Node) *Settings {
	s := &Settings{Enabled: true, Timeout: DefaultTimeout}
	if v := n.Get("enabled"); v != nil {
		s.Enabled = v.Kind != configfile.Bool || v.Bool
	}
	r.Fields(n, map[string]func(*configfile.Node){
		"botToken": func(n *configfile.Node) {
			if s.Enabled {
				s.BotToken, _ = r.Secret(n)
			} else {
				s.BotToken = r.Unused(n)
			}
		},
		"chatId":         func(n *configfile.Node) { s.ChatID = readChat(r, n) },
		"timeout":        func(n *configfile.Node) { s.Timeout = r.Seconds(n, 1, 3600) },
		"allowedUserIds": func(n *configfile.Node) { s.AllowedUserIDs = readUsers(r, n) },
	},
		configfile.Former{Name: "enabled", Now: "nothing: the section is enough, and whoever wants no chat leaves it out",
			Read: func(n *configfile.Node) { r.Bool(n) }},
		configfile.Former{Name: "baseUrl", Now: configfile.Nothing,
			Read: func(n *configfile.Node) { s.BaseURL = strings.TrimSuffix(r.Address(n), "/") }})
	if id, err := strconv.ParseInt(s.ChatID, 10, 64); err == nil && id > 0 && n.Get("allowedUserIds") == nil {
		s.AllowedUserIDs = []int64{id} // a chat with one person has that person's number
	}
	s.whole(r, n)
	return s
}

// whole reports what is missing where people are to be asked.
func (s *Settings) whole(r *endpoint.Reader, n *configfile.Node) {
	if !s.Enabled || !n.Empty() && n.Kind != configfile.Map {
		return
	}
	r.Needs(n, "botToken", "chatId")
	if s.ChatID != "" && len(s.AllowedUserIDs) == 0 && n.Get("allowedUserIds") == nil {
		r.Warnf(n.Pos, "%s has no allowedUserIds: everybody in its chat can decide", n.Path)
	}
}

// readChat is a number, in quotes or not, or the @name of a channel.
func readChat(r *endpoint.Reader, n *configfile.Node) string {
	r.Accepts(n, configfile.Int)
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

func readUsers(r *endpoint.Reader, n *configfile.Node) []int64 {
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
