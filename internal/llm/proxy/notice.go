package proxy

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
)

// noticeHeader tells the user what the answer alone would not: that a call went through which
// nobody audited, or why one was blocked (CAU-07). In a stream, whose header has gone out
// before its calls are decided, it is a trailer. The answer itself stays as it came.
const noticeHeader = ownHeaders + "Notice"

// The bounds of what one answer says this way.
const (
	maxNotices = 8
	maxNotice  = 500
)

// notify puts notices where the client can still read them, and in the server's log.
func (x *exchange) notify(ctx context.Context, notices []string) {
	name := noticeHeader
	if x.w.status != 0 {
		name = http.TrailerPrefix + noticeHeader
	}
	for i, text := range notices {
		if i == maxNotices {
			return
		}
		text = oneLine(text)
		x.w.Header().Add(name, text)
		x.p.o.Logger.LogAttrs(ctx, slog.LevelWarn, "notice for the user", slog.String("session", x.ref.Session),
			slog.String("notice", text))
	}
}

// oneLine is a text that a header can carry: a model may have chosen some of its words.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	return text[:min(len(text), maxNotice)]
}
