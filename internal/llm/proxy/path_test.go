package proxy_test

import (
	"net/http"
	"path"
	"strings"
	"testing"
)

// Whatever path a client writes: an answer that passes unjudged came from a path that no
// server takes for a request to a model.
func FuzzNoSpellingOfAPathGetsAroundTheJudge(f *testing.F) {
	for _, seed := range []string{
		"/v1/chat/completions", "/v1//chat/completions", "/v1/chat/completions/", "/v1/chat/./completions", "/v1/Chat/COMPLETIONS",
		"/v1/chat%2fcompletions", "/v1/%63hat/completions", "/v1/chat/completions;a=1", "/v1/messages", "/v1/responses/", "/v1/models",
		"/v1beta/models/g:generateContent", "/v1beta/models/g%3AgenerateContent", "/v1/x/../messages", "/v1/embeddings", "/v1/chat/completions%20",
	} {
		f.Add(seed)
	}
	w := open(f)
	const marker = "call-never"
	w.provider.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Seen", r.URL.Path)
		answerJSON(`{"`+marker+`":`+chatCall(marker, "wipe", "{}")+`}`)(rw, r)
	})
	f.Fuzz(func(t *testing.T, p string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/openai/x", strings.NewReader(chatRequest(false, user("Hi"))))
		if err != nil {
			t.Fatal(err)
		}
		u, err := req.URL.Parse(w.url + "/openai" + p)
		if err != nil || !strings.HasPrefix(u.Path, "/openai/") {
			return
		}
		req.URL = u
		resp, err := w.client.Do(req)
		if err != nil {
			return
		}
		_ = resp.Body.Close()
		seen := strings.ToLower(path.Clean(resp.Header.Get("X-Seen")))
		if resp.StatusCode != http.StatusOK || resp.Header.Get("X-Seen") == "" {
			return
		}
		for _, model := range []string{"/chat/completions", "/responses", "/messages", ":generatecontent", ":streamgeneratecontent"} {
			if strings.HasSuffix(seen, model) {
				t.Errorf("%q passed unjudged as %s", p, seen)
			}
		}
	})
}
