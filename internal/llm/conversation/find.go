package conversation

import (
	"encoding/hex"
	"errors"
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// entry is one request while its place is looked for.
type entry struct {
	f        *Follower
	past     *past
	who      Caller
	r        *format.Request
	messages []format.Message // without those that from stands for
	offset   int              // the place of the first of them in the list

	session      *session
	from         *node // what is known before messages
	unseenBefore bool  // something stands before them that nobody saw
	start        start
	carried      trust.Label // what an answer stands on that the request goes on from

	ref      engine.Ref
	branch   *branch
	at       *node
	before   *node // the node before the last message
	label    trust.Label
	first    bool   // no model has answered before the message at hand
	final    bool   // it is the last
	begun    string // what the client has begun of the answer itself
	prefills bool   // and nobody has got that as an answer before
	speech   speech // what the messages of a model around it are together
	root     bool   // it is the first of the conversation
	vouched  bool   // somebody has reset the branch's trust since its latest request
	parent   string // the session whose model wrote what it begins with
	opening  engine.Opening
	taken    map[string]int // results without an id so far, by tool
	shown    []Shown        // what the model gets in the place of results
}

var errNoTenant = errors.New("enter conversation: nobody is named whose it is")

// find finds the session the request belongs to: the one its client names, the one its
// first bytes are known from, the one that holds its first message, or its own.
func (e *entry) find() error {
	if e.who.Tenant == "" {
		return errNoTenant
	}
	name := e.named()
	memo, ok := e.r.Memo.(*node)
	// Of those that begin with the same message the answer tells which one it is.
	known := ok && e.r.Hints.Previous == "" && (memo.session.name == name || name == "" && memo.spoken)
	e.carried = nothing()
	if !known {
		if err := e.reread(); err != nil { // before the lock: it may take a while
			return err
		}
	}
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	if known {
		e.session, e.from = memo.session, memo
		e.session.visits++
		e.f.sessions.put(e.sessionKey(memo.session.name), memo.session) // it may have been forgotten
		return nil
	}
	if e.r.Hints.Previous != "" {
		e.findAnswer()
		return nil
	}
	if name != "" {
		e.enter(name)
		return nil
	}
	return e.infer()
}

// findAnswer goes on from an answer that the provider keeps.
// Preconditions: f.mu is held.
func (e *entry) findAnswer() {
	a, ok := e.f.answers.get(answerKey{e.who.Tenant, e.r.Hints.Previous})
	if n := a.node; ok && n != nil && (e.named() == "" || n.session.name == e.named()) {
		e.session, e.from, e.carried = n.session, n, a.label
		e.session.visits++
		return
	}
	if e.unseenBefore = !ok || a.node != nil; !e.unseenBefore {
		e.carried = a.label // a conversation that nobody has spoken in yet
	}
	name := e.named()
	if name == "" {
		d := tool.DigestOf([]byte(e.r.Hints.Previous))
		name = e.scoped("answer-" + hex.EncodeToString(d[:8]))
	}
	e.enter(name)
}

// reread reads the whole list where a part of it was known by its bytes alone.
func (e *entry) reread() error {
	if e.r.Known == 0 {
		return nil
	}
	whole, err := format.NewCache(0).Read(e.r.API, e.who.Tenant, e.r.Body)
	if err != nil {
		return err
	}
	e.messages, e.offset = whole.New, 0
	return nil
}

func (e *entry) enter(name string) {
	key := e.sessionKey(name)
	s, ok := e.f.sessions.get(key)
	if !ok {
		s = newSession(name)
		e.f.sessions.put(key, s)
	}
	e.session, e.from = s, s.top
	s.visits++
}

func (e *entry) sessionKey(name string) sessionKey {
	if e.who.Trusted && e.who.Session != "" {
		return sessionKey{"", name}
	}
	return sessionKey{e.who.Tenant, name}
}

// scoped is a name that no other tenant's can be.
func (e *entry) scoped(name string) string {
	const most = 200
	if len(name) > most {
		d := tool.DigestOf([]byte(name))
		name = hex.EncodeToString(d[:16])
	}
	return "llm:" + e.who.Tenant + ":" + name
}

var (
	uuid          = regexp.MustCompile(`^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)
	sessionSuffix = regexp.MustCompile(`_session_([0-9A-Za-z-]{8,64})$`)
)

// named is the session's name where the client gives one; "" where it does not.
func (e *entry) named() string {
	switch {
	case e.who.Session != "" && e.who.Trusted:
		return e.who.Session
	case e.who.Session != "":
		return e.scoped(e.who.Session)
	}
	h := &e.r.Hints
	for _, key := range []string{"session_id", "sessionId", "conversation_id", "thread_id"} {
		if v := h.Metadata[key]; v != "" {
			return e.scoped(v)
		}
	}
	if v := sessionOf(h.Metadata["user_id"]); v != "" {
		return e.scoped(v)
	}
	if uuid.MatchString(h.CacheKey) { // a conversation's; other keys are shared by many
		return e.scoped(h.CacheKey)
	}
	return ""
}

// sessionOf finds the session in a user id that a harness made up of several.
func sessionOf(user string) string {
	if m := sessionSuffix.FindStringSubmatch(user); m != nil {
		return m[1]
	}
	var parts struct {
		Session string `json:"session_id"`
	}
	if strings.HasPrefix(user, "{") && strictjson.Unmarshal([]byte(user), &parts) == nil {
		return parts.Session
	}
	return ""
}

// place keeps apart what different users of one client say.
func (e *entry) place() string { return e.who.Tenant + "\x00" + e.r.Hints.User }
