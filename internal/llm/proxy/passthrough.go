package proxy

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/http/httputil"
	"strings"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// through passes everything else on, byte for byte. The answer to something that was
// posted is looked at on its way: one with a tool call in it came from a path that asks a
// model, under a name nobody told us.
func (x *exchange) through() *problem {
	var no *problem
	posted, opens := x.r.Method == http.MethodPost, x.opening()
	if posted {
		x.out.Header.Set("Accept-Encoding", "identity")
	}
	proxy := &httputil.ReverseProxy{
		Transport: x.u.transport, FlushInterval: -1,
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL, pr.Out.Host, pr.Out.Header = x.out.URL, x.out.Host, x.out.Header
		},
		ModifyResponse: func(resp *http.Response) error {
			maps.DeleteFunc(resp.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, ownHeaders) })
			if !posted {
				return nil
			}
			if err := watch(resp); err != nil || !opens {
				return err
			}
			return x.opened(resp)
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			if no = x.unreached(err); errors.Is(err, errHoldsCall) {
				no = newProblem(http.StatusBadGateway, "the answer holds a tool call on a path that is not judged; "+whyInstead)
			}
		},
	}
	proxy.ServeHTTP(x.w, x.r)
	return no
}

var errHoldsCall = errors.New("a tool call on a path that is not judged")

// lookSize is how much of an answer in one piece is looked at before any of it goes out.
const lookSize = 64 << 10

// watch looks at an answer that may hold tool calls: JSON and event streams. One that comes
// in one piece is looked at before its header goes out, a stream as it comes.
func watch(resp *http.Response) error {
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		return nil
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	piece := kind == "application/json" || strings.HasSuffix(kind, "+json")
	if !piece && kind != "text/event-stream" && kind != "application/x-ndjson" && kind != "application/jsonl" {
		return nil
	}
	if packed := resp.Header.Get("Content-Encoding"); packed != "" && packed != "identity" {
		return errHoldsCall // nobody asked for that, and it cannot be looked at
	}
	w := &watched{ReadCloser: resp.Body}
	if piece {
		first, err := io.ReadAll(io.LimitReader(w, lookSize))
		if errors.Is(err, errHoldsCall) {
			return err
		}
		w.first, w.failed = first, err
	}
	resp.Body = w
	return nil
}

// watched ends an answer in the middle of the event, or of the piece, that holds a call:
// what is cut off there can be read by nobody.
type watched struct {
	io.ReadCloser
	first  []byte // looked at and not given out yet
	failed error  // what came after it
	tail   []byte // the end of what was looked at: a call may begin in it
}

// Read implements io.Reader.
func (w *watched) Read(b []byte) (int, error) {
	if len(w.first) > 0 {
		n := copy(b, w.first)
		w.first = w.first[n:]
		return n, nil
	}
	if w.failed != nil {
		return 0, w.failed
	}
	n, err := w.ReadCloser.Read(b)
	seen := append(w.tail, b[:n]...)
	if format.HoldsCall(seen) {
		w.failed = errHoldsCall
		return 0, errHoldsCall
	}
	w.tail = append([]byte(nil), seen[max(0, len(seen)-format.LongestCallMark):]...)
	return n, err
}
