// Package prooftest gives scripted servers of tests what clients want to see before they say
// anything: the proof that it is the server of their data folder. It serves HTTP in memory
// only, as the test's own server does.
package prooftest

import (
	"net"
	"net/http"

	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Handler proves itself with the secret, at the address it is reached under, and hands
// everything else on. Answers bear the name of their question, unless they set another.
func Handler(secret string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != serverproof.Path {
			w.Header().Set(serverproof.AskHeader, r.Header.Get(serverproof.AskHeader))
			next.ServeHTTP(w, r)
			return
		}
		at := ""
		if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
			at = "http://" + local.String()
		}
		answer, err := serverproof.KeyOf(secret).Show(r.Header.Get(serverproof.Header), at)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = strictjson.Write(w, answer) // a client that is gone cannot be told
	})
}
