package judge

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/mcp/wire"
	"github.com/tidemark/tidemark/tool"
)

// withheld stands where something came back that could not be recorded: the call did run.
const withheld = "The call ran, but what came back could not be recorded, so it is not shown. " +
	"Tidemark's log says more; do not repeat a call that changes something without asking."

// Down judges a message of the server's: what reaches a model is recorded first. Forward goes to the
// client, Reply back to the server.
func (c *Conn) Down(ctx context.Context, m *wire.Message) Passage {
	switch m.Kind() {
	case wire.Response:
		return c.response(ctx, m)
	case wire.Request:
		return c.serverAsks(ctx, m)
	case wire.Notification:
		return c.notified(ctx, m)
	}
	return Passage{}
}

// response takes the answer to a request of the client's. One that nobody waits for goes nowhere.
func (c *Conn) response(ctx context.Context, m *wire.Message) Passage {
	key := m.Key()
	c.mu.Lock()
	r := c.open[key]
	if r != nil && r.sent {
		delete(c.open, key)
	} else {
		r = nil
	}
	c.mu.Unlock()
	if r == nil {
		return Passage{}
	}
	forward, err := c.came(ctx, m, r)
	if err != nil {
		c.o.Logger.LogAttrs(ctx, slog.LevelWarn, "mcp: an answer is withheld", slog.String("server", c.o.Server.Name),
			slog.String("method", r.method), slog.String("error", err.Error()))
		return Passage{Forward: r.refusal(withheld)}
	}
	return Passage{Forward: forward}
}

// came records what an answer brings, and says what of it is passed on.
func (c *Conn) came(ctx context.Context, m *wire.Message, r *request) ([]byte, error) {
	switch r.method {
	case listMethod:
		return c.listed(ctx, m, r)
	case "initialize", "server/discover":
		return c.greeted(ctx, m, r)
	case "ping", "logging/setLevel":
		return m.Raw, c.says(ctx, r.place, r.method, orError(m))
	case "resources/list", "resources/templates/list", "prompts/list":
		if m.Result != nil && c.familiar(ctx, m, r) {
			return m.Raw, nil
		}
	}
	got := outcome{content: m.Error, failed: true}
	if m.Result != nil {
		got = outcomeOf(m)
		c.later(&got, r)
		if err := c.says(ctx, r.place, infoKey, got.info); err != nil { // it argues as the greeting does, and is no part of the answer
			return nil, err
		}
	}
	if len(got.content) == 0 || string(got.content) == "{}" {
		return m.Raw, nil
	}
	res := tool.Result{CallID: r.call.ID, Name: r.call.Name, Args: r.call.Args, Content: got.content, Error: got.failed, Labels: got.labels}
	place := r.place
	if origin := c.o.Memory.task(r.task); r.task != "" && origin != nil {
		res.CallID, res.Name, res.Args, place = origin.call.ID, origin.call.Name, origin.call.Args, origin.place
	} else if res.Name == "" {
		res.Name = c.name(spelt(r.method))
	}
	places := []Place{place}
	if place != r.place { // who asks for it reads it, whoever began it
		places = append(places, r.place)
	}
	if r.call.Name == "" && r.task == "" {
		places = c.places()
	}
	if r.method == callMethod && len(places) == 1 && got.task == "" && got.kind != "input_required" {
		return c.heldBack(ctx, m, r, Came{Place: place, Result: res, Holds: true})
	}
	return m.Raw, c.observe(ctx, places, res)
}

// spelt is a method as the name of a tool.
func spelt(method string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, method)
}

// later remembers a call whose result, or whose second round, is still to come.
func (c *Conn) later(got *outcome, r *request) {
	if r.call.Name == "" {
		return
	}
	if got.task != "" {
		c.o.Memory.keepTask(got.task, r)
	}
	if got.kind == "input_required" {
		c.o.Memory.keepRound(r, got.state)
	}
}

// listed shows a page of tools to the pins, and passes on what they leave.
func (c *Conn) listed(ctx context.Context, m *wire.Message, r *request) ([]byte, error) {
	if m.Result == nil {
		return m.Raw, c.says(ctx, r.place, r.method, m.Error)
	}
	err := wire.Members(m.Result, func(key string, _ []byte) error {
		if key != "tools" && strings.EqualFold(key, "tools") {
			return errors.New("a key of the listing could be taken for tools")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	shown, err := c.o.Pins.List(ctx, c.o.Server, r.cursor, m.Result)
	if err != nil {
		return nil, err
	}
	c.o.Memory.list(r.cursor, definitions(c.o.Server.Name, shown))
	if err := c.says(ctx, r.place, r.method, beside(shown)); err != nil {
		return nil, err
	}
	if err := c.offerNow(ctx, r.place); err != nil {
		return nil, err
	}
	if string(shown) != string(m.Result) && wire.Text(shown, "cacheScope") == "public" {
		if shown, err = wire.Put(shown, "cacheScope", []byte(`"private"`)); err != nil { // it was made for one reader
			return nil, err
		}
	}
	if shown, err = c.o.Memory.withOwn(shown, r.cursor); err != nil {
		return nil, err
	}
	return c.edited(m, shown, nil)
}

// greeted shows a greeting to the pins, and passes on what they leave. All of it argues: hosts put it into their prompts.
func (c *Conn) greeted(ctx context.Context, m *wire.Message, r *request) ([]byte, error) {
	if m.Result == nil {
		return m.Raw, c.says(ctx, r.place, r.method, m.Error)
	}
	c.hears(r.method, m.Result)
	shown, err := c.o.Pins.Hello(ctx, c.o.Server, m.Result)
	if err == nil {
		err = c.says(ctx, r.place, r.method, shown)
		if errors.As(err, new(*Unreachable)) { // nothing runs before there is a monitor, which is then told with the tools
			err = nil
		}
	}
	return c.edited(m, shown, err)
}

// orError is what an answer says that should say nothing.
func orError(m *wire.Message) []byte {
	if m.Result == nil {
		return m.Error
	}
	return m.Result
}

// says notes what a server says of itself: it argues like a definition, wherever it is read. What there is no room for is content.
func (c *Conn) says(ctx context.Context, asked Place, method string, said []byte) error {
	if len(said) == 0 || string(said) == "{}" {
		return nil
	}
	if c.o.Memory.keepList(c.o.Server.Name, method, said) {
		return c.offerNow(ctx, asked)
	}
	return c.observe(ctx, c.everywhere(asked), tool.Result{Name: c.name(spelt(method)), Content: said})
}

// familiar reports whether a listing is what it was when the server was first used. Then it is no content: it says what
// definitions say, and is kept as what they are, which may argue for values and stands behind none.
func (c *Conn) familiar(ctx context.Context, m *wire.Message, r *request) bool {
	same, err := c.o.Pins.Same(ctx, c.o.Server, r.method, m.Result)
	if err != nil {
		_ = c.fault(ctx, "compare a listing", err)
		return false
	}
	if !same || !c.o.Memory.keepList(c.o.Server.Name, r.method, m.Result) {
		return false
	}
	return c.offerNow(ctx, r.place) == nil
}

// offerNow tells whoever asked, and every conversation that may read it, what the server offers. At once: the next call
// may be one of another server's, and this one need never be called for its words to be obeyed.
func (c *Conn) offerNow(ctx context.Context, asked Place) error {
	for _, p := range c.everywhere(asked) {
		if err := c.offer(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// everywhere is where something counts that one conversation asked for and others may read.
func (c *Conn) everywhere(asked Place) []Place {
	places := c.places()
	if asked.Session != "" && !slices.Contains(places, asked) {
		places = append(places, asked)
	}
	return places
}

// offer tells a session what the server offers, where it does not know.
func (c *Conn) offer(ctx context.Context, p Place) error {
	defs := c.o.Memory.untold(p.Session)
	if defs == nil {
		return nil
	}
	held, err := c.o.Port.Offer(ctx, p, c.o.Server.Name, defs)
	if err != nil {
		c.o.Memory.forget(p.Session)
		return err
	}
	c.o.Memory.keepHeld(held)
	return nil
}

// edited is a response with another result, byte for byte the same where it is the same.
func (c *Conn) edited(m *wire.Message, result []byte, err error) ([]byte, error) {
	if err != nil || string(result) == string(m.Result) {
		return m.Raw, err
	}
	return withResult(m, result)
}

// serverAsks takes a request of the server's: what it says may reach a model or a person.
func (c *Conn) serverAsks(ctx context.Context, m *wire.Message) Passage {
	key, places := m.Key(), c.places()
	c.mu.Lock()
	taken := c.asked[key] != nil || c.ours[key] != nil || len(c.asked) >= maxOpen
	if !taken {
		if c.asked == nil {
			c.asked = map[string]*question{}
		}
		c.asked[key] = &question{method: m.Method, places: places}
	}
	c.mu.Unlock()
	if taken {
		return Passage{Reply: Failure(m.ID, wire.CodeRequest, "a request with this id is open already")}
	}
	if m.Method == rootsMethod || m.Method == "ping" || len(m.Params) == 0 {
		return Passage{Forward: m.Raw}
	}
	err := c.observe(ctx, places, tool.Result{Name: c.name(spelt(m.Method)), Content: m.Params})
	if err != nil {
		c.mu.Lock()
		delete(c.asked, key)
		c.mu.Unlock()
		return Passage{Reply: Failure(m.ID, wire.CodeInternal, c.fault(ctx, "record what the server asks", err))}
	}
	return Passage{Forward: m.Raw}
}

// silent are the notifications that say nothing a model could read.
var silent = map[string]bool{
	"notifications/tools/list_changed": true, "notifications/prompts/list_changed": true, "notifications/resources/list_changed": true,
	"notifications/roots/list_changed": true, "notifications/resources/updated": true, cancelMethod: true,
	"notifications/elicitation/complete": true, "notifications/subscriptions/acknowledged": true,
}

// notified takes a notification of the server's. What cannot be recorded is not passed on.
func (c *Conn) notified(ctx context.Context, m *wire.Message) Passage {
	said := m.Params
	places := []Place(nil)
	argues := ""
	switch {
	case silent[m.Method]:
		if c.says(ctx, Place{}, m.Method, beyond(m.Params)) != nil {
			return Passage{}
		}
		return Passage{Forward: m.Raw}
	case m.Method == logMethod: // a model is seldom shown it, and every server writes some
		argues, said = c.o.Server.Name, plainly(m.Params)
	case m.Method == progressMethod:
		token := m.Param("progressToken")
		said = []byte(wire.Text(m.Params, "message"))
		places = c.placeOf(token)
	}
	if len(said) == 0 || string(said) == "{}" {
		return Passage{Forward: m.Raw}
	}
	if places == nil {
		places = c.places()
	}
	if err := c.hear(ctx, places, argues, tool.Result{Name: c.name(spelt(m.Method)), Content: said}); err != nil {
		_ = c.fault(ctx, "record a notification", err)
		return Passage{}
	}
	return Passage{Forward: m.Raw}
}

// plainMembers are what notifications that say nothing hold: numbers, ids and addresses that the client gave itself.
var plainMembers = []string{"requestId", "uri", "elicitationId", "_meta"}

// beyond is what a notification holds that should say nothing, besides what it is for.
func beyond(params []byte) []byte {
	if len(params) == 0 {
		return nil
	}
	rest, err := wire.Cut(params, plainMembers...)
	if err != nil {
		return params
	}
	return rest
}

// plainly is a JSON text as it reads, not as JSON spells it.
func plainly(raw []byte) []byte {
	var out []byte
	for _, leaf := range strictjson.Flat(string(raw)) {
		out = append(append(out, leaf.Text...), '\n')
	}
	return out
}

// placeOf is where the request with a token of progress is judged; nil: there is none.
func (c *Conn) placeOf(token []byte) []Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.open {
		if r.token != nil && string(r.token) == string(token) {
			return []Place{r.place}
		}
	}
	return nil
}

// Lost answers every request that was on its way when the server went away.
func (c *Conn) Lost(why string) [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out [][]byte
	for key, r := range c.open {
		if r.sent {
			out = append(out, r.refusal(why))
			delete(c.open, key)
		}
	}
	clear(c.asked)
	return out
}

// Fail answers one request that could not be brought to the server, or whose answer cannot be read.
func (c *Conn) Fail(key, why string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.open[key]
	if r == nil {
		return nil
	}
	delete(c.open, key)
	r.cancel() // it may not have been judged yet
	return r.refusal(why)
}
