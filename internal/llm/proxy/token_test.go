package proxy_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

func TestATokenOfOursInAnOddPlaceIsRefused(t *testing.T) {
	w := open(t)
	for _, token := range []string{agentToken, adminToken} {
		for _, upstream := range []string{"/openai", "/llm/mine"} {
			for _, header := range [][]string{
				{"X-Api-Key", "Bearer " + token}, {"Authorization", "Bearer Bearer " + token}, {"Authorization", "Bearer " + token + ","}, {"X-Auth-Token", token},
				{"Ocp-Apim-Subscription-Key", token}, {"Cookie", "t=" + token}, {"User-Agent", "x/" + token},
				{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+token))},
			} {
				for range 2 {
					if g := w.do(http.MethodPost, upstream+"/v1/chat/completions", chatRequest(false, user("Hello")), header...); g.status != http.StatusUnauthorized {
						t.Errorf("%s %s: got %d %s, want 401", upstream, header, g.status, g.body)
					}
				}
			}
			for _, query := range []string{"key=" + token + ";x", "key=x" + token, "token=" + token, "a=%" + "61" + "&x=" + strings.Replace(token, "a", "%61", 1), "key=" + token + "&b=%zz" + token} {
				if g := w.do(http.MethodPost, upstream+"/v1/chat/completions?"+query, chatRequest(false, user("Hello"))); g.status != http.StatusUnauthorized {
					t.Errorf("%s ?%s: got %d %s, want 401", upstream, query, g.status, g.body)
				}
			}
			if g := w.do(http.MethodGet, upstream+"/v1/models/"+token, ""); g.status != http.StatusUnauthorized {
				t.Errorf("%s in the path: got %d, want 401", upstream, g.status)
			}
		}
	}
	if n := len(w.provider.requests()); n != 0 {
		t.Errorf("the provider got %d requests, want none", n)
	}
}

func TestWhoeverHasNoTokenMayOnlyAskModelsWithOurKey(t *testing.T) {
	w := open(t)
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{http.MethodPost, "/v1/chat/completions", http.StatusOK},
		{http.MethodGet, "/v1/models", http.StatusOK},
		{http.MethodGet, "/v1/models/m", http.StatusOK},
		{http.MethodPost, "/v1/messages/count_tokens", http.StatusOK},
		{http.MethodPost, "/v1/embeddings", http.StatusOK},
		{http.MethodDelete, "/v1/files/f", http.StatusUnauthorized},
		{http.MethodDelete, "/v1/models/m", http.StatusUnauthorized},
		{http.MethodGet, "/v1/files", http.StatusUnauthorized},
		{http.MethodPost, "/v1/files", http.StatusUnauthorized},
		{http.MethodGet, "/v1/responses/r", http.StatusUnauthorized},
		{http.MethodDelete, "/v1/responses/r", http.StatusUnauthorized},
	} {
		for _, key := range []string{"", "Bearer " + clientKey} {
			if c.want == http.StatusOK {
				w.provider.then(answerJSON(chatText("ok")))
			}
			header := []string{}
			if key != "" {
				header = []string{"Authorization", key}
			}
			if g := w.do(c.method, "/llm/mine"+c.path, chatRequest(false, user("Hello")), header...); g.status != c.want {
				t.Errorf("%s %s: got %d %s, want %d", c.method, c.path, g.status, g.body, c.want)
			}
		}
	}
	w.provider.then(answerJSON(`{}`))
	if g := w.do(http.MethodDelete, "/llm/mine/v1/files/f", "", "X-Tidemark-Token", agentToken); g.status != http.StatusOK {
		t.Errorf("with the token: got %d %s, want 200", g.status, g.body)
	}
	w.provider.then(answerJSON(`{}`))
	if g := w.do(http.MethodDelete, "/openai/v1/files/f", "", "Authorization", "Bearer "+clientKey); g.status != http.StatusOK {
		t.Errorf("with a key of one's own: got %d %s, want 200", g.status, g.body)
	}
}
