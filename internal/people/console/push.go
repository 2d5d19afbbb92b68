package console

import (
	"errors"
	"net/http"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/webpush"
)

const (
	manifestPath = Path + "/manifest.webmanifest"
	workerPath   = Path + "/worker.js"
	pushPath     = Path + "/push"
)

// installable are the routes by which a browser can keep the console as an app: they need no session, there
// is nothing in them that is anybody's.
func (c *Console) installable() {
	c.mux.HandleFunc("GET "+manifestPath, c.manifest)
	c.mux.HandleFunc("GET "+workerPath, c.worker)
	if c.push != nil {
		c.post(pushPath, c.changePush)
	}
}

// links are what the head of every page names besides style and script.
func (c *Console) links() map[string]string {
	return map[string]string{
		"manifest": manifestPath, "icon": c.assets.named["icon.svg"], "apple-touch-icon": c.assets.named["icon-192.png"],
	}
}

// icon is a picture of the app.
type icon struct {
	Src   string `json:"src"`
	Sizes string `json:"sizes"`
	Type  string `json:"type"`
}

func (c *Console) manifest(w http.ResponseWriter, _ *http.Request) {
	body, err := strictjson.Marshal(map[string]any{
		"id": Path + "/", "start_url": Path + "/", "scope": Path + "/", "name": "Tidemark", "short_name": "Tidemark",
		"display": "standalone", "background_color": "#ffffff", "theme_color": "#12324a",
		"icons": []icon{
			{c.assets.named["icon-192.png"], "192x192", "image/png"}, {c.assets.named["icon-512.png"], "512x512", "image/png"},
			{c.assets.named["icon.svg"], "any", "image/svg+xml"},
		},
	})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/manifest+json")
	_, _ = w.Write(body) // a browser that is gone cannot be told
}

// worker is the script that shows a notice while no page is open. Its name stays: a browser looks there for
// a newer one.
func (c *Console) worker(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write(c.assets.worker) // a browser that is gone cannot be told
}

// pushSection lists the browsers that are told of questions, and has this one be told.
func (c *Console) pushSection(v *visit) h.Part {
	if c.push == nil {
		return h.List(nil)
	}
	var rows h.List
	for _, b := range c.push.List() {
		button := h.Part(h.List(nil))
		if b.By == v.By || v.mayRule() {
			button = h.El("form", h.A("method", "post"), h.A("action", pushPath), h.A("data-form", "untell"), h.A("data-id", b.ID),
				c.token(v, pushPath), hidden("do", "off"), hidden("what", b.ID), h.El("button", h.T("Remove")))
		}
		rows = append(rows, h.El("tr", h.A("data-id", b.ID),
			h.El("th", h.A("scope", "row"), h.T(b.ID)), h.El("td", h.T(shownBy(b.By))),
			h.El("td", h.T(b.Service)), h.El("td", c.ago(b.Made)), h.El("td", h.T(b.Ends.UTC().Format("2 January 2006"))),
			h.El("td", button)))
	}
	list := h.Part(h.El("p", h.Class("empty"), h.T("No browser gets notices.")))
	if len(rows) > 0 {
		list = scroll("Browsers", h.El("table", h.A("id", "browsers"), h.El("caption", h.T("Browsers that get notices")),
			h.El("thead", h.El("tr", heads("Browser", "Whose", "Through", "Since", "Until", "")...)), h.El("tbody", rows)))
	}
	form := h.El("form", h.A("method", "post"), h.A("action", pushPath), h.A("data-form", "tell"), h.A("data-key", c.push.Key()),
		h.A("data-url", workerPath), h.Class("stack"), c.token(v, pushPath), hidden("do", "on"),
		hidden("endpoint", ""), hidden("p256dh", ""), hidden("auth", ""),
		h.El("button", h.Class("main"), h.T("Send notices to this browser")), h.El("p", h.Class("problem"), h.A("role", "alert")),
		h.El("noscript", h.El("p", h.T("Notices need JavaScript."))))
	return h.El("section", h.El("h2", h.T("Notices")),
		h.El("p", h.T("A browser can show that a question waits while no page is open. The notice goes through the service of the "+
			"browser's maker, which cannot read it; a click opens the question, and nothing is answered without it.")), list, form)
}

// changePush has a browser be told, which takes somebody who is signed in and present, or no longer, which takes
// whoever has it or an administrator.
func (c *Console) changePush(v *visit) {
	f, ctx := v.r.PostForm, v.r.Context()
	var note string
	var err error
	switch do := f.Get("do"); {
	case v.Idle && do == "on":
		err = say(http.StatusForbidden, "Nothing was changed: a session that was not used for a while adds no browser. Sign in again.")
	case do == "on":
		note = "This browser gets notices from now on."
		sub := webpush.Subscription{Endpoint: f.Get("endpoint"), P256dh: f.Get("p256dh"), Auth: f.Get("auth")}
		if err = c.push.Add(ctx, v.By, sub); err == nil {
			c.feed.QuestionsMoved() // what waits already is told too
		}
	case do == "off":
		whose := v.By
		if v.mayRule() {
			whose = "" // anybody's
		}
		note, err = "The browser gets no more notices.", c.push.Remove(ctx, f.Get("what"), whose, v.by())
	default:
		err = say(http.StatusBadRequest, "Nothing was changed: say what to do.")
	}
	status := http.StatusOK
	if err != nil {
		status, note = c.explainPush(v, err)
	}
	if err != nil && v.r.Header.Get("Sec-Fetch-Dest") == "empty" {
		c.fail(v.w, v.r, status, note)
		return
	}
	c.showKeys(v, status, note)
}

// explainPush is explain for what the sender says, all of which is for people: it holds no address.
func (c *Console) explainPush(v *visit, err error) (int, string) {
	var said *sentence
	switch {
	case errors.As(err, &said):
		return said.status, said.text
	case errors.Is(err, webpush.ErrBad):
		return http.StatusBadRequest, "Nothing was changed: " + err.Error() + "."
	case errors.Is(err, webpush.ErrFull):
		return http.StatusConflict, "Nothing was changed: " + err.Error() + "."
	case errors.Is(err, webpush.ErrNobody):
		return http.StatusNotFound, "Nothing was changed: " + err.Error() + "."
	case errors.Is(err, webpush.ErrService):
		return http.StatusBadGateway, "Nothing was changed: " + err.Error() + "."
	}
	return c.explain(v.r.Context(), err)
}
