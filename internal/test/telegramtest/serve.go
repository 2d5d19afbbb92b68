package telegramtest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Reply is how one call goes. Its fields add up: it is carried out or not, then waits,
// then drops the connection or answers. The zero Reply is an ordinary call.
type Reply struct {
	Do     bool            // carry the call out, whatever the answer
	Hold   <-chan struct{} // wait for this before the answer
	Drop   bool            // close the connection without an answer
	Status int             // of the answer; 0 is that of a proper one
	Body   string          // of the answer; empty is a proper one for the status
	Retry  int             // retry_after, for 429
}

// TooMany is the answer of a server that asks for a pause.
func TooMany(seconds int) Reply { return Reply{Status: http.StatusTooManyRequests, Retry: seconds} }

// Conflict is the answer while another program polls.
func Conflict() Reply {
	return Reply{Status: http.StatusConflict, Body: `{"ok":false,"error_code":409,` +
		`"description":"Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}`}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	method, ok := strings.CutPrefix(r.URL.Path, "/bot"+Token+"/")
	if !ok {
		fail(w, http.StatusUnauthorized, "Unauthorized")
		return
	}
	fields, err := read(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "Bad Request: "+err.Error())
		return
	}
	s.mu.Lock()
	var script *Reply
	if list := s.scripts[method]; len(list) > 0 {
		script, s.scripts[method] = &list[0], list[1:]
	}
	down := s.down
	if !down {
		s.calls[method] = append(s.calls[method], len(s.requests))
		s.requests = append(s.requests, Request{method, fields})
		s.change()
	}
	s.mu.Unlock()
	switch {
	case down:
		drop(w)
	case script != nil:
		s.misbehave(w, r, method, fields, script)
	default:
		s.run(w, r, method, fields)
	}
}

func (s *Server) misbehave(w http.ResponseWriter, r *http.Request, method string, fields map[string]string, o *Reply) {
	proper := &kept{header: http.Header{}, status: http.StatusOK}
	if o.Do {
		s.run(proper, r, method, fields)
	}
	if o.Hold != nil {
		select {
		case <-o.Hold:
		case <-r.Context().Done():
		case <-s.quit:
		}
	}
	switch {
	case o.Drop:
		drop(w)
	case o.Body != "":
		w.WriteHeader(max(o.Status, http.StatusOK))
		_, _ = io.WriteString(w, o.Body)
	case o.Status == http.StatusTooManyRequests:
		w.WriteHeader(o.Status)
		fmt.Fprintf(w, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after %d",`+
			`"parameters":{"retry_after":%d}}`, o.Retry, o.Retry)
	case o.Status != 0:
		fail(w, o.Status, http.StatusText(o.Status))
	case o.Do:
		w.WriteHeader(proper.status)
		_, _ = w.Write(proper.body)
	default:
		s.run(w, r, method, fields)
	}
}

func (s *Server) run(w http.ResponseWriter, r *http.Request, method string, fields map[string]string) {
	switch method {
	case "getMe":
		succeed(w, `{"id":123456,"is_bot":true,"first_name":"Tidemark","username":"tidemark_bot"}`)
	case "getChat":
		if !here(fields) {
			fail(w, http.StatusBadRequest, "Bad Request: chat not found")
			return
		}
		succeed(w, fmt.Sprintf(`{"id":%d,"type":"supergroup","title":"Approvals","accent_color_id":1,"max_reaction_count":1}`, Chat))
	case "sendMessage":
		s.send(w, fields)
	case "editMessageText":
		s.edit(w, fields)
	case "answerCallbackQuery":
		succeed(w, "true")
	case "getUpdates":
		s.getUpdates(w, r, fields)
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
}

// here reports whether the call is about the one chat there is.
func here(fields map[string]string) bool {
	return fields["chat_id"] == strconv.FormatInt(Chat, 10) || fields["chat_id"] == "@tidemark_approvals"
}

func (s *Server) send(w http.ResponseWriter, fields map[string]string) {
	var markup struct {
		Rows [][]Button `json:"inline_keyboard"`
	}
	if err := strictjson.Unmarshal([]byte(fields["reply_markup"]), &markup); err != nil || !here(fields) || fields["text"] == "" {
		fail(w, http.StatusBadRequest, "Bad Request: chat not found, no text or no keyboard")
		return
	}
	s.mu.Lock()
	m := &Message{ID: 40 + len(s.messages), Chat: Chat, Text: fields["text"], Buttons: slices.Concat(markup.Rows...)}
	s.messages = append(s.messages, m)
	s.change()
	s.mu.Unlock()
	succeed(w, fmt.Sprintf(`{"message_id":%d,"date":1,"chat":{"id":%d,"type":"supergroup"},"text":%s}`, m.ID, m.Chat, quote(m.Text)))
}

func (s *Server) edit(w http.ResponseWriter, fields map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if here(fields) && strconv.Itoa(m.ID) == fields["message_id"] {
			m.Text, m.Edits = fields["text"], m.Edits+1
			if fields["reply_markup"] == "" {
				m.Buttons = nil
			}
			s.change()
			succeed(w, fmt.Sprintf(`{"message_id":%d,"date":1,"chat":{"id":%d,"type":"supergroup"},"text":%s}`,
				m.ID, m.Chat, quote(m.Text)))
			return
		}
	}
	fail(w, http.StatusBadRequest, "Bad Request: message to edit not found")
}

func (s *Server) getUpdates(w http.ResponseWriter, r *http.Request, fields map[string]string) {
	offset, _ := strconv.ParseInt(fields["offset"], 10, 64)
	limit, _ := strconv.Atoi(fields["limit"])
	wait, _ := strconv.Atoi(fields["timeout"])
	late := time.NewTimer(time.Duration(wait) * time.Second)
	defer late.Stop()
	s.mu.Lock()
	if s.poll != nil {
		close(s.poll)
	}
	ended := make(chan struct{})
	s.poll = ended
	s.updates = slices.DeleteFunc(s.updates, func(u queued) bool { return u.id < offset })
	s.change()
	s.mu.Unlock()
	defer s.endPoll(ended)
	for {
		s.mu.Lock()
		batch, changed := slices.Clone(s.updates[:min(len(s.updates), max(limit, 1))]), s.changed
		s.mu.Unlock()
		if len(batch) > 0 {
			s.deliver(w, batch)
			return
		}
		select {
		case <-changed:
		case <-ended:
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, Conflict().Body)
			return
		case <-late.C:
			s.deliver(w, nil)
			return
		case <-r.Context().Done():
			return
		case <-s.quit:
			return
		}
	}
}

func (s *Server) endPoll(ended chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.poll == ended {
		s.poll = nil
	}
}

func (s *Server) deliver(w http.ResponseWriter, batch []queued) {
	list := make([]string, len(batch))
	for i, u := range batch {
		list[i] = u.json
	}
	succeed(w, "["+strings.Join(list, ",")+"]")
}

func succeed(w http.ResponseWriter, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"ok":true,"result":%s}`, result) // JSON for a test, not a page
}

func fail(w http.ResponseWriter, code int, text string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"ok":false,"error_code":%d,"description":%s}`, code, quote(text)) // JSON for a test, not a page
}

// drop closes the connection without a word.
func drop(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// kept is an answer that is sent later, or never.
type kept struct {
	header http.Header
	status int
	body   []byte
}

// Header is that of the answer.
func (k *kept) Header() http.Header { return k.header }

// Write keeps.
func (k *kept) Write(b []byte) (int, error) {
	k.body = append(k.body, b...)
	return len(b), nil
}

// WriteHeader keeps.
func (k *kept) WriteHeader(status int) { k.status = status }

// read takes the fields of a call in any form the Bot API does.
func read(r *http.Request) (map[string]string, error) {
	fields := map[string]string{}
	switch kind := r.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "multipart/form-data"):
		if err := r.ParseMultipartForm(1 << 20); err != nil { // serve bounds the body
			return nil, err
		}
		for name, values := range r.MultipartForm.Value {
			fields[name] = values[0]
		}
	case strings.HasPrefix(kind, "application/json"):
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		var values map[string]strictjson.Value
		if err := strictjson.Unmarshal(body, &values); err != nil {
			return nil, err
		}
		for name, value := range values {
			fields[name] = string(value)
			var text string
			if strictjson.Unmarshal(value, &text) == nil {
				fields[name] = text
			}
		}
	}
	return fields, nil
}
