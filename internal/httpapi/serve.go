package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/tidemark/tidemark/hook"
)

// hookPath is where hooks are posted.
const hookPath = "/v1/hooks/"

// hookOf is the hook a request is for; empty for everything else.
func hookOf(r *http.Request) hook.Name {
	name, _ := strings.CutPrefix(r.URL.Path, hookPath)
	if len(name) == len(r.URL.Path) {
		return ""
	}
	return hook.Name(name)
}

// response remembers whether an answer has begun.
type response struct {
	http.ResponseWriter
	status int // 0 before the header went out
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// serve is the one entrance.
func (a *API) serve(rw http.ResponseWriter, r *http.Request) {
	w := &response{ResponseWriter: rw}
	defer a.contain(w, r)
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if no := a.sameOrigin.Check(r); no != nil {
		p := newProblem(no.Status, no.Kind, no.Text)
		a.writeProblem(w, hookOf(r), p)
		return
	}
	a.routes.ServeHTTP(w, a.from(r))
}

// contain turns a panic into an error that lets nothing through.
func (a *API) contain(w *response, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v) // the server's own way to cut a connection
	}
	p := a.logged(r.Context(), fmt.Errorf("panic: %v", v), internal())
	a.logger.LogAttrs(r.Context(), slog.LevelError, "panic contained",
		slog.String("instance", p.Instance), slog.String("stack", string(debug.Stack())))
	if w.status != 0 {
		panic(http.ErrAbortHandler) // half an answer went out: it must not look whole
	}
	a.writeProblem(w, hookOf(r), p)
}
