package lent_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/lent"
	"github.com/tidemark/tidemark/tool"
)

const bot = "desk-bot"

// asked puts a question and hands back what becomes of it.
func asked(ctx context.Context, d *lent.Desk, agent string) <-chan string {
	out := make(chan string, 1)
	go func() {
		r, err := d.Of(agent).Ask(ctx, auditor.Prompt{System: "s", User: "u", Kind: "contract"})
		if err != nil {
			out <- "fault: " + err.Error()
			return
		}
		out <- r.Text
	}()
	return out
}

// MAN-12: a question is handed out once and answered once, by the agent that it is for.
func TestAQuestionIsAnsweredOnceByWhoItIsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := lent.NewDesk(time.Now, bot, "other")
		ctx := t.Context()
		if _, ok, err := d.Next(ctx, bot, 0); ok || err != nil {
			t.Fatalf("a question out of nowhere: %v", err)
		}
		answer := asked(ctx, d, bot)
		q, ok, err := d.Next(ctx, bot, time.Second)
		if !ok || err != nil || q.Prompt.User != "u" {
			t.Fatalf("no question: %v", err)
		}
		if _, again, _ := d.Next(ctx, bot, time.Second); again {
			t.Error("it was handed out twice")
		}
		if _, others, _ := d.Next(ctx, "other", time.Second); others {
			t.Error("another agent got it")
		}
		if err := d.Answer("other", q.ID, "theirs", ""); !errors.Is(err, lent.ErrGone) {
			t.Errorf("another agent answered: %v", err)
		}
		if err := d.Answer(bot, q.ID, "ours", ""); err != nil {
			t.Error(err)
		}
		if err := d.Answer(bot, q.ID, "again", ""); !errors.Is(err, lent.ErrGone) {
			t.Errorf("answered twice: %v", err)
		}
		if got := <-answer; got != "ours" {
			t.Errorf("answer %q", got)
		}
	})
}

func TestNobodyWaitsForAProgramThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := lent.NewDesk(time.Now, bot)
		if got := <-asked(t.Context(), d, bot); !strings.Contains(got, "comes for questions") {
			t.Errorf("absent: %q", got)
		}
		_, _, _ = d.Next(t.Context(), bot, 0)
		time.Sleep(time.Minute)
		if got := <-asked(t.Context(), d, bot); !strings.Contains(got, "comes for questions") {
			t.Errorf("gone: %q", got)
		}
		if got := <-asked(t.Context(), d, "stranger"); !strings.Contains(got, lent.ErrUnmarked.Error()) {
			t.Errorf("unmarked: %q", got)
		}
	})
}

func TestAProgramThatDiesWhileItIsAskedCostsTheTimeOfTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := lent.NewDesk(time.Now, bot)
		_, _, _ = d.Next(t.Context(), bot, 0)
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		answer := asked(ctx, d, bot)
		q, ok, _ := d.Next(t.Context(), bot, time.Second)
		if !ok {
			t.Fatal("no question")
		}
		if got := <-answer; !strings.Contains(got, "deadline") {
			t.Errorf("got %q", got)
		}
		if err := d.Answer(bot, q.ID, "late", ""); !errors.Is(err, lent.ErrGone) {
			t.Errorf("late: %v", err)
		}
		// One that leaves before a question comes does not take it away from the next.
		gone, leave := context.WithCancel(t.Context())
		leave()
		answer = asked(t.Context(), d, bot)
		_, _, _ = d.Next(t.Context(), bot, 0)
		if _, ok, _ := d.Next(gone, bot, time.Second); ok {
			t.Error("a dead one got it")
		}
		if q, ok, _ = d.Next(t.Context(), bot, time.Second); ok {
			_ = d.Answer(bot, q.ID, "", "no")
			<-answer
		}
	})
}

func TestAQuestionThatIsGivenBackIsTheNextPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := lent.NewDesk(time.Now, bot, "other")
		_, _, _ = d.Next(t.Context(), bot, 0)
		answer := asked(t.Context(), d, bot)
		q, ok, _ := d.Next(t.Context(), bot, time.Second)
		if !ok {
			t.Fatal("no question")
		}
		if err := d.Return("other", q.ID); !errors.Is(err, lent.ErrGone) {
			t.Errorf("another agent gave it back: %v", err)
		}
		got := make(chan lent.Question)
		go func() {
			next, _, _ := d.Next(t.Context(), bot, time.Minute)
			got <- next
		}()
		synctest.Wait()
		if err := d.Return(bot, q.ID); err != nil {
			t.Fatal(err)
		}
		if next := <-got; next.ID != q.ID {
			t.Errorf("the next program got %q", next.ID)
		}
		if err := d.Answer(bot, q.ID, "ours", ""); err != nil {
			t.Error(err)
		}
		if got := <-answer; got != "ours" {
			t.Errorf("answer %q", got)
		}
		if err := d.Return(bot, q.ID); !errors.Is(err, lent.ErrGone) {
			t.Errorf("given back after it was answered: %v", err)
		}
	})
}

func TestTooManyOfAnythingAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := lent.NewDesk(time.Now, bot)
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for range 16 {
			wg.Go(func() { _, _, _ = d.Next(ctx, bot, time.Hour) })
		}
		synctest.Wait()
		if _, _, err := d.Next(ctx, bot, 0); !errors.Is(err, lent.ErrCrowd) {
			t.Errorf("the seventeenth waits: %v", err)
		}
		cancel()
		wg.Wait()
		asking, stop := context.WithCancel(t.Context())
		var all []<-chan string
		for range 64 {
			all = append(all, asked(asking, d, bot))
			synctest.Wait()
		}
		if got := <-asked(asking, d, bot); !strings.Contains(got, "too many") {
			t.Errorf("the sixty-fifth: %q", got)
		}
		stop()
		for _, c := range all {
			<-c
		}
		if err := d.Answer(bot, "x", strings.Repeat("x", 1<<20), ""); !errors.Is(err, lent.ErrGone) {
			t.Errorf("long: %v", err)
		}
	})
}

// WAR-10: whoever can change the program could say what its owner asked for. What was seen once is not forgotten.
func TestAnAgentWithAShellIsNotAsked(t *testing.T) {
	read := tool.Definition{Name: "read_file", Description: "Reads a file"}
	runs := tool.Definition{Name: "run_command", Description: "Runs a shell command"}
	for name, tc := range map[string]struct {
		own   []string
		tools []tool.Definition
		shell string
	}{
		"no tools":                       {[]string{}, nil, ""},
		"a calendar":                     {[]string{}, []tool.Definition{{Name: "create_event", Description: "Creates an event"}}, ""},
		"its own, which reads":           {[]string{"read_file"}, []tool.Definition{read}, ""},
		"a shell of its own":             {[]string{"bash"}, nil, "bash"},
		"files that it can write":        {[]string{"write_file"}, nil, "write_file"},
		"its own, of which nobody knows": {[]string{"frobnicate"}, nil, "frobnicate"},
		"somebody's that runs commands":  {[]string{}, []tool.Definition{runs}, "run_command"},
	} {
		if got := lent.Shell(tc.own, tc.tools); got != tc.shell {
			t.Errorf("%s: %q, want %q", name, got, tc.shell)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		d := lent.NewDesk(time.Now, bot)
		_, _, _ = d.Next(t.Context(), bot, 0)
		answer := asked(t.Context(), d, bot)
		synctest.Wait()
		d.Heard("s", bot, []string{"bash"})
		if got := <-answer; !strings.Contains(got, "shell") {
			t.Errorf("what was on its way: %q", got)
		}
		d.Heard("s2", bot, []string{})
		d.Offered(bot, []string{}, nil)
		if _, _, err := d.Next(t.Context(), bot, 0); !errors.Is(err, lent.ErrShell) || !strings.Contains(err.Error(), "bash") {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// Whatever happens, each question ends once, with its own answer or with a fault.
func TestEachQuestionEndsWithItsOwnAnswer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(rt, "questions")
		d := lent.NewDesk(time.Now, bot)
		_, _, _ = d.Next(context.Background(), bot, 0)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var wg sync.WaitGroup
		for range rapid.IntRange(1, 3).Draw(rt, "programs") {
			wg.Go(func() {
				for {
					q, ok, err := d.Next(ctx, bot, time.Minute)
					if !ok || err != nil {
						return
					}
					_ = d.Answer(bot, q.ID, "re "+q.Prompt.User, "")
					_ = d.Answer(bot, q.ID, "again", "")
				}
			})
		}
		var asking sync.WaitGroup
		for i := range n {
			asking.Go(func() {
				user := strings.Repeat("u", i+1)
				if r, err := d.Of(bot).Ask(ctx, auditor.Prompt{User: user}); err != nil || r.Text != "re "+user {
					rt.Errorf("got %q, %v", r.Text, err)
				}
			})
		}
		asking.Wait()
		cancel()
		wg.Wait()
	})
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// MAN-12: a login of a subscription is never used, and nothing is used that is not known to be an API key.
func TestOnlyAPIKeysAreUsed(t *testing.T) {
	k, err := lent.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	body := strings.Repeat("aB3", 14)
	login := "Bearer sk-ant-oat01-" + body
	for name, tc := range map[string]struct {
		api string
		h   http.Header
		ok  bool
	}{
		"an Anthropic key":             {"anthropic", header("X-Api-Key", "sk-ant-api03-"+body), true},
		"a login of Claude":            {"anthropic", header("Authorization", "Bearer sk-ant-oat01-"+body), false},
		"a login of Claude as a key":   {"anthropic", header("X-Api-Key", "sk-ant-oat01-"+body), false},
		"a key beside a login":         {"anthropic", header("X-Api-Key", "sk-ant-api03-"+body, "Authorization", login), false},
		"an Anthropic key as bearer":   {"anthropic", header("Authorization", "Bearer sk-ant-api03-"+body), false},
		"two keys":                     {"anthropic", header("X-Api-Key", "sk-ant-api03-"+body, "X-Api-Key", "sk-ant-api03-"+body), false},
		"an admin's key":               {"anthropic", header("X-Api-Key", "sk-ant-admin01-"+body), false},
		"a key of a project":           {"openai", header("Authorization", "Bearer sk-proj-"+body), true},
		"a key of a service account":   {"openai", header("Authorization", "Bearer sk-svcacct-"+body), true},
		"an old key":                   {"openai", header("Authorization", "Bearer sk-"+body), true},
		"a key of OpenRouter":          {"openai", header("Authorization", "Bearer sk-or-v1-"+strings.Repeat("0af", 20)), true},
		"a login of ChatGPT":           {"openai", header("Authorization", "Bearer eyJhbGciOiJSUzI1NiJ9."+body+"."+body), false},
		"a key with a ChatGPT account": {"openai", header("Authorization", "Bearer sk-proj-"+body, "Chatgpt-Account-Id", "x"), false},
		"an Anthropic key at OpenAI":   {"openai", header("Authorization", "Bearer sk-ant-api03-"+body), false},
		"a login of Copilot":           {"openai", header("Authorization", "Bearer tid="+body), false},
		"a login of GitHub":            {"openai", header("Authorization", "Bearer gho_"+body), false},
		"a key in another scheme":      {"openai", header("Authorization", "Basic sk-proj-"+body), false},
		"a Gemini key":                 {"gemini", header("X-Goog-Api-Key", "AIza"+strings.Repeat("a", 35)), true},
		"a login of Google":            {"gemini", header("Authorization", "Bearer ya29."+body), false},
		"a Gemini key beside a login":  {"gemini", header("X-Goog-Api-Key", "AIza"+strings.Repeat("a", 35), "Authorization", login), false},
		"nothing":                      {"anthropic", header(), false},
		"an API that nobody knows":     {"bedrock", header("X-Api-Key", "sk-ant-api03-"+body), false},
		"a key and a cookie":           {"anthropic", header("X-Api-Key", "sk-ant-api03-"+body, "Cookie", "session=1"), false},
	} {
		if got := k.Key(tc.api, tc.h); (got != nil) != tc.ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	got := k.Key("openai", header("Authorization", "Bearer sk-proj-"+body, "Openai-Project", "p", "X-Other", "secret"))
	if len(got) != 2 || got.Get("Openai-Project") != "p" {
		t.Errorf("more than the key goes along: %v", got)
	}
}

// A credential is there while its request runs, for its session, and where that session asks.
func TestACredentialIsItsRequestsAlone(t *testing.T) {
	k, err := lent.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	key := "sk-ant-api03-" + strings.Repeat("k", 40)
	lend := func(session, value string) func() {
		return k.Lend(lent.Request{
			Session: session, Upstream: "a", API: "anthropic", Wire: auditor.Anthropic, Header: header("X-Api-Key", value),
		})
	}
	of := k.Of("a", auditor.Anthropic)
	back := lend("s", key)
	if h, err := of("s"); err != nil || h.Get("X-Api-Key") != key {
		t.Errorf("its own: %v", err)
	}
	for name, get := range map[string]func() (http.Header, error){
		"another session":  func() (http.Header, error) { return of("other") },
		"another upstream": func() (http.Header, error) { return k.Of("b", auditor.Anthropic)("s") },
		"another wire":     func() (http.Header, error) { return k.Of("a", auditor.OpenAI)("s") },
	} {
		if _, err := get(); !errors.Is(err, auditor.ErrNoAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	more := lend("s", key)
	back()
	back()
	if _, err := of("s"); err != nil {
		t.Errorf("while another request runs: %v", err)
	}
	more()
	if _, err := of("s"); err == nil {
		t.Error("it is kept after its request")
	}
	back = lend("s", "sk-ant-oat01-"+strings.Repeat("k", 40))
	if _, err := of("s"); err == nil || strings.Contains(err.Error(), "sk-ant") {
		t.Errorf("a login: %v", err)
	}
	back()
}
