package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/release"
	"github.com/tidemark/tidemark/tool"
)

// through passes on what carries no tool calls, byte for byte. Only a stream is refused
// where none is known to come, and a token of ours in the request.
func (x *exchange) through() *problem {
	opens := x.opening()
	if x.vouches && x.r.Method != http.MethodGet {
		x.filled()
	}
	if no := x.checkMembers(); no != nil {
		return no
	}
	if no := x.signWhole(); no != nil {
		return no
	}
	body, no := unpack(x.r.Body, x.r.Header)
	if no != nil {
		return no
	}
	if _, packed := x.out.Header["Content-Encoding"]; packed && len(x.r.Header["Content-Encoding"]) == 0 {
		x.out.Header.Del("Content-Encoding") // it goes on unpacked, as it was looked at
		x.r.ContentLength = -1
		x.out.Header.Del("Content-Length")
	}
	x.r.Body = &guarded{ReadCloser: x.r.Body, from: body, callers: x.p.callers}
	if x.rt.texts != format.None || opens || x.rt.answers != nil {
		x.out.Header.Set("Accept-Encoding", "identity")
	}
	proxy := &httputil.ReverseProxy{
		Transport: x.u.transport, FlushInterval: -1,
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL, pr.Out.Host, pr.Out.Header = x.out.URL, x.out.Host, x.out.Header
		},
		ModifyResponse: func(resp *http.Response) error {
			maps.DeleteFunc(resp.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, ownHeaders) })
			if err := x.passes(resp); err != nil || !opens {
				return err
			}
			return x.opened(resp)
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			if !errors.As(err, &no) {
				no = x.unreached(err)
			}
		},
	}
	proxy.ServeHTTP(x.w, x.r)
	return no
}

// signWhole signs a request that passes. Its body is read first: the signature stands for it.
func (x *exchange) signWhole() *problem {
	if x.u.Sign == nil {
		return nil
	}
	lent, no := x.readBody()
	if no != nil {
		return no
	}
	defer lent.done()
	if x.p.callers.inBody(lent.buf) {
		return newProblem(http.StatusForbidden, whyStray)
	}
	x.replaceBody(lent)
	x.sign(x.out, lent.buf)
	return nil
}

// replaceBody lets a body that was read go on, unpacked.
func (x *exchange) replaceBody(lent *lease) {
	x.r.Body, x.r.ContentLength = io.NopCloser(bytes.NewReader(bytes.Clone(lent.buf))), int64(len(lent.buf))
	x.out.Header.Del("Content-Encoding")
}

// checkMembers refuses a request that has more than the one it is taken for: two providers
// mean different things by one path.
func (x *exchange) checkMembers() *problem {
	if x.rt.members == nil || x.vouches {
		return nil
	}
	lent, no := x.readBody()
	if no != nil {
		return no
	}
	defer lent.done()
	var given map[string]strictjson.Value
	if len(bytes.TrimSpace(lent.buf)) > 0 {
		if err := strictjson.Unmarshal(lent.buf, &given); err != nil {
			return newProblem(http.StatusBadRequest, "the request cannot be read in one way only, so it was not sent")
		}
	}
	for name := range given {
		if !slices.Contains(x.rt.members, name) {
			return x.refusal(x.rt.why)
		}
	}
	x.replaceBody(lent)
	return nil
}

// checkAnswer refuses an answer that has more than the one it is taken for: what was sent may mean nothing to the provider it was
// meant for, and to another that a model is to run.
func (x *exchange) checkAnswer(resp *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxOpening+1))
	if err != nil {
		return err
	}
	var given map[string]strictjson.Value
	known := len(raw) <= maxOpening && strictjson.Unmarshal(raw, &given) == nil
	for name, value := range given { // what is no object and no list holds no call
		known = known && (slices.Contains(x.rt.answers, name) || value.Kind() != '{' && value.Kind() != '[')
	}
	if !known {
		return newProblem(http.StatusBadGateway, "the answer is more than a conversation that was made or named, so it was not passed on")
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(raw), resp.Body}
	return nil
}

// passes looks at the header of an answer that is not judged. A stream passes only on a path
// that is known for one; the texts of a model are read by the schema of their format.
func (x *exchange) passes(resp *http.Response) error {
	if resp.StatusCode < 200 || resp.StatusCode >= 300 || x.r.Method == http.MethodHead {
		return nil
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	streams := kind == "text/event-stream" || isStream(kind, x.rt.texts)
	switch {
	case x.vouches:
		return nil
	case x.rt.answers != nil:
		return x.checkAnswer(resp)
	case streams && !x.rt.events:
		return newProblem(http.StatusBadGateway, "the answer is a stream, on a path that is not known for one"+x.vouching())
	case x.rt.texts != format.None:
		return x.onlyTexts(resp, kind, streams)
	}
	return nil
}

// onlyTexts lets an answer of a model through that may hold no calls.
func (x *exchange) onlyTexts(resp *http.Response, kind string, streams bool) error {
	if !streams && kind != "application/json" {
		return newProblem(http.StatusBadGateway, "the upstream's answer is neither JSON nor an event stream, so it cannot be looked at")
	}
	body, no := unpack(resp.Body, resp.Header)
	if no != nil {
		return newProblem(http.StatusBadGateway, "the upstream's answer is packed in a way that cannot be read")
	}
	options := x.options()
	options.API, options.Strict = x.rt.texts, true
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	if streams {
		out, in := io.Pipe()
		from := resp.Body // below it is another
		go func() {
			defer func() {
				if v := recover(); v != nil {
					x.p.o.Logger.Error("llm proxy: a stream could not be read", "fault", fmt.Sprint(v))
					_ = in.CloseWithError(errors.New("the answer could not be read"))
				}
			}()
			_, err := release.Stream(x.r.Context(), options, in, body, noCalls{})
			_ = in.CloseWithError(errors.Join(err, from.Close())) // the reader is told; a client that is gone is not
		}()
		resp.Body = out
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(body, int64(x.p.o.Limits.Answer)+1))
	if err != nil || len(raw) > x.p.o.Limits.Answer {
		return newProblem(http.StatusBadGateway, "the upstream's answer could not be read to its end")
	}
	if _, _, err := release.Whole(x.r.Context(), options, raw, noCalls{}); err != nil {
		return newProblem(http.StatusBadGateway, "the answer holds what may be a tool call, on a path that is not judged; "+whyInstead)
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(raw), resp.Body}
	return nil
}

// noCalls refuses an answer with a call in it.
type noCalls struct{}

// Decide implements release.Judge.
func (noCalls) Decide(context.Context, tool.Call) (release.Ruling, error) {
	return release.Ruling{}, format.Refused("a tool call on a path that is not judged")
}

// Observe implements release.Judge.
func (noCalls) Observe(context.Context, string, string, []byte) error { return nil }
