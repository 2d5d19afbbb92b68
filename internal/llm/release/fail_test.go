package release_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/release"
	"github.com/tidemark/tidemark/tool"
)

// oneCall is a stream of some text and one harmless call.
func oneCall(api format.API) string {
	return stream(api, []saying{{text: "hi"}, {tool: "marker", id: "1", args: `{"v":"argument"}`}})
}

// sly hands out a permit for another call than the one it was asked about.
type sly struct{ *judge }

func (s sly) Decide(ctx context.Context, c tool.Call) (release.Ruling, error) {
	c.Args = []byte(`{"v":"other"}`)
	return s.judge.Decide(ctx, c)
}

// twice hands out the first permit again.
type twice struct {
	*judge
	first *engine.Permit
}

func (w *twice) Decide(ctx context.Context, c tool.Call) (release.Ruling, error) {
	r, err := w.judge.Decide(ctx, c)
	if w.first == nil {
		w.first = r.Permit
	}
	return release.Ruling{Permit: w.first}, err
}

func TestAPermitCountsOnceAndForItsOwnCallAlone(t *testing.T) {
	for _, api := range formats {
		var out bytes.Buffer
		o, err := release.Stream(t.Context(), release.Options{API: api}, &out, strings.NewReader(oneCall(api)), sly{newJudge(t)})
		if err != nil || o.Refused != 1 || strings.Contains(out.String(), "marker") {
			t.Errorf("format %d, a permit for another call: got %+v, %v\n%s", api, o, err, out.String())
		}
		out.Reset()
		same := saying{tool: "marker", args: `{"v":1}`}
		a, b := same, same
		a.id, b.id = "1", "2"
		o, err = release.Stream(t.Context(), release.Options{API: api}, &out, strings.NewReader(stream(api, []saying{a, b})), &twice{judge: newJudge(t)})
		if err != nil || o.Calls != 2 || o.Refused != 1 {
			t.Errorf("format %d, the same permit again: got %+v, %v\n%s", api, o, err, out.String())
		}
	}
}

func TestACallThatCannotBeDecidedEndsTheAnswer(t *testing.T) {
	cause := errors.New("the log is full")
	for _, api := range formats {
		for range 2 {
			j := newJudge(t)
			j.err = cause
			var out bytes.Buffer
			_, err := release.Stream(t.Context(), release.Options{API: api}, &out, strings.NewReader(oneCall(api)), j)
			if !errors.Is(err, cause) || strings.Contains(out.String(), "marker") || !strings.Contains(out.String(), `"error"`) || strings.Contains(out.String(), "log is full") {
				t.Errorf("format %d: got %v\n%s", api, err, out.String())
			}
			body, _, err := release.Whole(t.Context(), release.Options{API: api}, []byte(wholeBody(api, []saying{{tool: "marker", id: "1", args: `{}`}})), j)
			if !errors.Is(err, cause) || body != nil {
				t.Errorf("format %d, whole: got %v", api, err)
			}
		}
	}
}

// writes keeps what was written, write by write, and can break.
type writes struct {
	list  []string
	after int // writes that work
}

func (w *writes) Write(b []byte) (int, error) {
	if w.after > 0 && len(w.list) == w.after {
		return 0, io.ErrClosedPipe
	}
	w.list = append(w.list, string(b))
	return len(b), nil
}

// While a person thinks, the client gets signs of life that its SDK passes over.
func TestTheClientIsKeptWaitingPolitely(t *testing.T) {
	for _, api := range []format.API{format.Chat, format.Messages, format.Responses} {
		w, j := &writes{}, newJudge(t)
		signs := make(chan struct{}, 64)
		j.before = func(context.Context) {
			for range 2 {
				<-signs
			}
		}
		_, err := release.Stream(t.Context(), release.Options{API: api, KeepAlive: time.Millisecond}, noting{w, signs}, strings.NewReader(oneCall(api)), j)
		if err != nil {
			t.Fatalf("format %d: %v", api, err)
		}
		out := strings.Join(w.list, "")
		got, err := readers[api](out)
		if err != nil || len(got.Parts) != 2 || len(out) <= len(oneCall(api)) {
			t.Errorf("format %d: the client got %v, %v\n%s", api, got, err, out)
		}
	}
}

type noting struct {
	w     io.Writer
	wrote chan struct{}
}

func (n noting) Write(b []byte) (int, error) {
	select {
	case n.wrote <- struct{}{}:
	default:
	}
	return n.w.Write(b)
}

func TestAClientThatGoesAwayEndsTheWait(t *testing.T) {
	for _, api := range []format.API{format.Chat, format.Messages, format.Responses} {
		j := newJudge(t)
		j.before = func(ctx context.Context) { <-ctx.Done() }
		_, err := release.Stream(t.Context(), release.Options{API: api, KeepAlive: time.Millisecond}, &writes{after: 1}, strings.NewReader(oneCall(api)), j)
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("format %d: got %v, want the write error", api, err)
		}
	}
}

func TestAnEndedRequestReleasesNothing(t *testing.T) {
	for _, api := range formats {
		ctx, cancel := context.WithCancel(t.Context())
		j := newJudge(t)
		j.before = func(ctx context.Context) { cancel(); <-ctx.Done() }
		j.err = context.Canceled
		var out bytes.Buffer
		_, err := release.Stream(ctx, release.Options{API: api, KeepAlive: time.Minute}, &out, strings.NewReader(oneCall(api)), j)
		if !errors.Is(err, context.Canceled) || strings.Contains(out.String(), "marker") {
			t.Errorf("format %d: got %v\n%s", api, err, out.String())
		}
	}
}

// broken gives what it has and then an error that is not the end.
type broken struct{ r io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func TestAnUpstreamThatBreaksOffReleasesNothingThatWasHeld(t *testing.T) {
	for _, api := range formats {
		in := oneCall(api)
		for end := range len(in) {
			var out bytes.Buffer
			o, err := release.Stream(t.Context(), release.Options{API: api}, &out, broken{strings.NewReader(in[:end])}, newJudge(t))
			if !errors.Is(err, io.ErrUnexpectedEOF) || o.Calls == 0 && strings.Contains(out.String(), "marker") || !strings.Contains(out.String(), `"error"`) {
				t.Fatalf("format %d, broken off at %d: got %v\n%s", api, end, err, out.String())
			}
		}
	}
}

func TestWhatIsHeldIsBounded(t *testing.T) {
	long := `{"v":"` + strings.Repeat("x", 4000) + `"}`
	for _, api := range formats {
		if api != format.Gemini && api != format.CodeAssist && api != format.Ollama { // their calls are whole in one event
			var out bytes.Buffer
			_, err := release.Stream(t.Context(), release.Options{API: api, MaxHeld: 2000}, &out, strings.NewReader(stream(api, []saying{{tool: "marker", id: "1", args: long}})), newJudge(t))
			if !errors.Is(err, format.ErrRefused) || strings.Contains(out.String(), "marker") {
				t.Errorf("format %d, held: got %v\n%s", api, err, out.String())
			}
		}
		for _, in := range []string{"data: " + long + "\n\n", "data: " + long} {
			for _, size := range []int{1, 1 << 20} {
				var out bytes.Buffer
				_, err := release.Stream(t.Context(), release.Options{API: api, MaxEvent: 2000}, &out, cut{strings.NewReader(in), size}, newJudge(t))
				if !errors.Is(err, format.ErrRefused) || strings.Contains(out.String(), "xxx") {
					t.Errorf("format %d, event: got %v", api, err)
				}
			}
		}
	}
}

// steps gives one piece per read.
type steps struct{ list []string }

func (s *steps) Read(b []byte) (int, error) {
	if len(s.list) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.list[0])
	s.list = s.list[1:]
	return n, nil
}

// Text is not delayed: what one read brings goes out in one write before the next.
func TestOneReadIsOneWrite(t *testing.T) {
	for _, api := range formats {
		in := stream(api, []saying{{text: "one two three four"}})
		parts := strings.SplitAfter(in, "\n\n")
		parts = parts[:len(parts)-1]
		w := &writes{}
		if _, err := release.Stream(t.Context(), release.Options{API: api}, w, &steps{append([]string(nil), parts...)}, newJudge(t)); err != nil {
			t.Fatalf("format %d: %v", api, err)
		}
		if fmt.Sprint(w.list) != fmt.Sprint(parts) {
			t.Errorf("format %d: got %q, want %q", api, w.list, parts)
		}
	}
}

func TestNoFormatIsAnError(t *testing.T) {
	if _, err := release.Stream(t.Context(), release.Options{}, io.Discard, strings.NewReader(""), newJudge(t)); err == nil {
		t.Error("stream: got no error")
	}
	if _, _, err := release.Whole(t.Context(), release.Options{}, []byte("{}"), newJudge(t)); err == nil {
		t.Error("whole: got no error")
	}
}
