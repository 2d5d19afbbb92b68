package format_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/llm/format"
)

var formats = []format.API{format.Chat, format.Responses, format.Messages, format.Gemini, format.Converse, format.Ollama}

// entry is a user's entry in any format.
func entry(api format.API, says string) string {
	if api == format.Gemini {
		return fmt.Sprintf(`{"role":"user","parts":[{"text":%q}]}`, says)
	}
	if api == format.Converse {
		return fmt.Sprintf(`{"role":"user","content":[{"text":%q}]}`, says)
	}
	return fmt.Sprintf(`{"role":"user","content":%q}`, says)
}

// conversation is a request with members on both sides of the list.
type conversation struct {
	before, after string
	entries       []string
}

func (c conversation) body(api format.API) string {
	key := map[format.API]string{format.Chat: "messages", format.Responses: "input", format.Gemini: "contents"}[api]
	if key == "" {
		key = "messages"
	}
	if api == format.Converse { // its system prompt is a list
		c.before = strings.Replace(c.before, `"system":`, `"before":`, 1)
	}
	return `{` + c.before + `"` + key + `":[` + strings.Join(c.entries, " ,") + ` ]` + c.after + `}`
}

func (c conversation) upTo(n int) string { return c.before + strings.Join(c.entries[:n], " ,") }

func drawConversation(t *rapid.T) conversation {
	big := strings.Repeat("long ", 600)
	return conversation{
		before: rapid.SampledFrom([]string{"", `"x":1, `, `"system":"` + big + `","y":[],`, `"x":2, `}).Draw(t, "before"),
		after:  rapid.SampledFrom([]string{"", `,"z":1`, `,"tools":[]`, `,"note":"` + big + `","tools":[]`}).Draw(t, "after"),
	}
}

// grow changes a conversation as clients do: most append, some go back, some edit.
func grow(t *rapid.T, api format.API, c conversation) conversation {
	c.entries = append([]string(nil), c.entries...)
	switch rapid.IntRange(0, 9).Draw(t, "how") {
	case 0:
		c.entries = c.entries[:rapid.IntRange(0, len(c.entries)).Draw(t, "back to")]
	case 1:
		if len(c.entries) > 0 {
			i := rapid.IntRange(0, len(c.entries)-1).Draw(t, "edited")
			c.entries[i] = entry(api, "edited "+rapid.StringMatching(`[ab]{0,2}`).Draw(t, "edit"))
		}
	case 2:
		fresh := drawConversation(t)
		c.before, c.after = fresh.before, fresh.after
	}
	for range rapid.IntRange(0, 3).Draw(t, "new entries") {
		c.entries = append(c.entries, entry(api, rapid.StringMatching(`[ab"\\\n]{0,70}`).Draw(t, "says")))
	}
	return c
}

// sameRequest compares what two readings of one body say.
func sameRequest(t *rapid.T, warm, cold *format.Request) {
	if warm.Len() != cold.Len() || warm.Known > cold.Len() {
		t.Fatalf("got %d known and %d new, want %d", warm.Known, len(warm.New), cold.Len())
	}
	for _, d := range []string{
		cmp.Diff(cold.New[warm.Known:], warm.New, cmpopts.EquateEmpty()),
		cmp.Diff(cold.Head, warm.Head), cmp.Diff(cold.Tools, warm.Tools), cmp.Diff(cold.Hints, warm.Hints),
	} {
		if d != "" {
			t.Fatalf("a cache that knows some reads differently (-cold +warm):\n%s", d)
		}
	}
}

func TestAKnownPrefixChangesNothingButTheWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		api := rapid.SampledFrom(formats).Draw(t, "api")
		cache := format.NewCache(rapid.SampledFrom([]int{0, 1, 3, 10, 1000}).Draw(t, "limit"))
		all := []conversation{drawConversation(t)}
		for range rapid.IntRange(1, 15).Draw(t, "requests") {
			c := grow(t, api, rapid.SampledFrom(all).Draw(t, "which"))
			all = append(all, c)
			who := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "tenant")
			body := []byte(c.body(api))
			warm, err := cache.Read(api, who, body)
			if err != nil {
				t.Fatalf("warm: %v", err)
			}
			cold, err := format.NewCache(0).Read(api, who, body)
			if err != nil {
				t.Fatalf("cold: %v", err)
			}
			sameRequest(t, warm, cold)
			if warm.Known == 0 && warm.Memo != nil || warm.Known > 0 && warm.Memo != who+c.upTo(warm.Known) {
				t.Fatalf("the value of %d entries is %q, want %q", warm.Known, warm.Memo, who+c.upTo(warm.Known))
			}
			if got, err := warm.Apply(format.Edit{}); err != nil || &got[0] != &body[0] {
				t.Fatalf("the zero edit: got another body, %v", err)
			}
			for range rapid.IntRange(0, 3).Draw(t, "kept") {
				i := rapid.IntRange(-1, warm.Len()).Draw(t, "keep")
				warm.Keep(i, who+c.upTo(min(max(i+1, 0), len(c.entries))))
			}
		}
	})
}

func mustRead(t testing.TB, c *format.Cache, api format.API, who, body string) *format.Request {
	t.Helper()
	r, err := c.Read(api, who, []byte(body))
	if err != nil {
		t.Fatalf("Read(%.200s): %v", body, err)
	}
	return r
}

func keepLast(r *format.Request) {
	for i := max(r.Len()-2, r.Known); i < r.Len(); i++ {
		r.Keep(i, i+1)
	}
}

func TestWhatWasKeptIsKnown(t *testing.T) {
	for _, api := range formats {
		c := format.NewCache(100)
		talk := conversation{before: `"x":1,`, after: `,"y":1`}
		add := func(says string) { talk.entries = append(talk.entries, entry(api, says)) }
		add("one")
		add("two")
		keepLast(mustRead(t, c, api, tenant, talk.body(api)))
		add("three")
		r := mustRead(t, c, api, tenant, talk.body(api))
		if r.Known != 2 || r.Memo != 2 || len(r.New) != 1 {
			t.Fatalf("format %d: got %d known, value %v, %d new; want 2, 2, 1", api, r.Known, r.Memo, len(r.New))
		}
		keepLast(r)
		talk.entries[2] = entry(api, "three, with a mark")
		add("four")
		r = mustRead(t, c, api, tenant, talk.body(api))
		if r.Known != 2 {
			t.Errorf("format %d: the last entry changed: got %d known, want 2", api, r.Known)
		}
		keepLast(r)
		talk.after = `,"y":2`
		if r = mustRead(t, c, api, tenant, talk.body(api)); r.Known != 4 {
			t.Errorf("format %d: a member after the list changed: got %d known, want 4", api, r.Known)
		}
		r.Keep(3, "new value")
		if r = mustRead(t, c, api, tenant, talk.body(api)); r.Memo != "new value" {
			t.Errorf("format %d: got value %v, want the new one", api, r.Memo)
		}
		talk.before = `"x":2,`
		if r = mustRead(t, c, api, tenant, talk.body(api)); r.Known != 0 || r.Memo != nil {
			t.Errorf("format %d: a member before the list changed: got %d known, want none", api, r.Known)
		}
	}
}

func TestTenantsAndFormatsShareNothing(t *testing.T) {
	c := format.NewCache(100)
	talk := conversation{entries: []string{entry(format.Chat, "one")}}
	keepLast(mustRead(t, c, format.Chat, "a", talk.body(format.Chat)))
	if r := mustRead(t, c, format.Chat, "b", talk.body(format.Chat)); r.Known != 0 {
		t.Errorf("another tenant: got %d known, want none", r.Known)
	}
	if r := mustRead(t, c, format.Messages, "a", talk.body(format.Messages)); r.Known != 0 {
		t.Errorf("another format: got %d known, want none", r.Known)
	}
}

// A tail that is wrong is wrong however well the rest is known.
func TestWhatFollowsAKnownPrefixIsChecked(t *testing.T) {
	c := format.NewCache(100)
	good := `{"messages":[` + entry(format.Chat, "one") + `]`
	keepLast(mustRead(t, c, format.Chat, tenant, good+`}`))
	long := `,"x":"` + strings.Repeat("x", 5000) + `"`
	mustRead(t, c, format.Chat, tenant, good+long+`}`) // the tail is remembered too
	for _, bad := range []string{
		``, `}}`, `,}`, `,"messages":[]}`, `,"Messages":[]}`, `,"a":1,"a":2}`, `,"a":1,"A":2}`, long + `,"x":1}`, long, `,"a":tru}`,
	} {
		for range 2 {
			if _, err := c.Read(format.Chat, tenant, []byte(good+bad)); err == nil {
				t.Errorf("%.40s: got no error", bad)
			}
		}
	}
	head := `{"x":1,"messages":[` + entry(format.Chat, "one") + `]`
	keepLast(mustRead(t, c, format.Chat, tenant, head+`}`))
	if _, err := c.Read(format.Chat, tenant, []byte(head+long+`}`)); err == nil {
		t.Error("a member before a known list and in a remembered tail: got no error")
	}
}

func TestManyReadersAtOnce(t *testing.T) {
	c := format.NewCache(50)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			talk := conversation{after: `,"tools":[]`}
			for i := range 60 {
				talk.entries = append(talk.entries, entry(format.Chat, fmt.Sprint(g%3, "-", i)))
				body := talk.body(format.Chat)
				r, err := c.Read(format.Chat, fmt.Sprint("t", g%2), []byte(body))
				if err != nil {
					t.Errorf("Read: %v", err)
					return
				}
				if r.Len() != i+1 || r.Known > 0 && r.Memo != talk.upTo(r.Known) {
					t.Errorf("got %d entries and the value of other ones, want %d", r.Len(), i+1)
				}
				r.Keep(i-1, talk.upTo(max(i, 0)))
				r.Keep(i, talk.upTo(i+1))
			}
		})
	}
	wg.Wait()
}

func TestWhatWasNotUsedForLongestIsForgotten(t *testing.T) {
	c := format.NewCache(20)
	body := func(i int) string {
		return conversation{entries: []string{entry(format.Chat, fmt.Sprint("talk ", i))}}.body(format.Chat)
	}
	keepLast(mustRead(t, c, format.Chat, tenant, body(0)))
	keepLast(mustRead(t, c, format.Chat, tenant, body(1)))
	for i := 2; i < 200; i++ {
		keepLast(mustRead(t, c, format.Chat, tenant, body(i)))
		if r := mustRead(t, c, format.Chat, tenant, body(0)); r.Known != 1 {
			t.Fatalf("after %d conversations: the one that is used all the time is forgotten", i)
		}
	}
	if r := mustRead(t, c, format.Chat, tenant, body(1)); r.Known != 0 {
		t.Error("got the second conversation still known after 198 others, want it forgotten")
	}
	if r := mustRead(t, c, format.Chat, tenant, body(199)); r.Known != 1 {
		t.Error("got the last conversation forgotten")
	}
}

// A client that marks its last entry, and moves the mark, finds all but that entry.
func TestAMovingMarkCostsOneEntry(t *testing.T) {
	c := format.NewCache(1000)
	var plain []string
	for i := range 300 {
		plain = append(plain, entry(format.Messages, fmt.Sprint("entry ", i)))
		marked := append([]string(nil), plain...)
		marked[i] = fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"entry %d","cache_control":{"type":"ephemeral"}}]}`, i)
		r := mustRead(t, c, format.Messages, tenant, conversation{entries: marked}.body(format.Messages))
		if want := max(i-1, 0); r.Known != want {
			t.Fatalf("request %d: got %d known, want %d", i, r.Known, want)
		}
		keepLast(r)
	}
}
