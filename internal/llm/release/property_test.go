package release_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/release"
	"github.com/tidemark/tidemark/tool"
)

var formats = []format.API{format.Chat, format.Responses, format.Messages, format.Gemini, format.Converse, format.Ollama, format.CodeAssist}

var escapes = regexp.MustCompile(`\\+u00([0-9a-fA-F]{2})`)

// plain is out with the escapes of plain letters resolved, at any depth.
func plain(out string) string {
	return escapes.ReplaceAllStringFunc(out, func(s string) string {
		c, err := strconv.ParseUint(s[len(s)-2:], 16, 8)
		if err != nil {
			return s
		}
		return string(rune(c))
	})
}

// leaks is the most generous reader there is: it finds the mark of a call that must not go
// out wherever it stands outside our refusal, in whatever escapes.
func leaks(out string) bool {
	out = strings.ReplaceAll(out, q(refusal), "")
	out = plain(out)
	return strings.Contains(out, bad) || strings.Contains(out, bad[:4])
}

// talk never draws a z, so that the mark of a bad call is never there by chance.
func talk(t *rapid.T) []saying {
	text := rapid.StringMatching(`[a-yäöü€😀 "\\\n{}:]{0,24}`)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) saying {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return saying{text: text.Draw(t, "text")}
		case 1:
			return saying{thinking: text.Draw(t, "thinking"), text: text.Draw(t, "text")}
		case 2:
			return saying{hosted: true}
		default:
			id := "id" + rapid.StringMatching(`[a-y0-9]{8}`).Draw(t, "id")
			name := rapid.SampledFrom([]string{"read", "send", bad}).Draw(t, "name")
			value := rapid.SampledFrom([]string{"fine", bad, "é\n\""}).Draw(t, "value")
			return saying{tool: name, id: id, args: `{"v":` + q(value) + `}`}
		}
	}), 0, 6).Draw(t, "says")
}

// sameEvents compares bytes. In Chat, text passes calls that are still held, so there the
// events may come in another order.
func sameEvents(api format.API, a, b string) bool {
	if api != format.Chat {
		return a == b
	}
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func marked(s saying) bool { return strings.Contains(s.tool+s.args, bad) }

// TestNoCallGoesOutWithoutAPermit holds for all formats, any talk and any chunking.
func TestNoCallGoesOutWithoutAPermit(t *testing.T) {
	j := newJudge(t)
	for _, api := range formats {
		t.Run(fmt.Sprint("format ", api), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				says := talk(t)
				in := stream(api, says)
				if rapid.Bool().Draw(t, "crlf") {
					in = strings.ReplaceAll(in, "\n", "\r\n")
				}
				var first string
				for _, size := range []int{1 << 20, rapid.IntRange(1, 40).Draw(t, "size")} {
					var out bytes.Buffer
					o, err := release.Stream(context.Background(), release.Options{API: api}, &out, cut{strings.NewReader(in), size}, j)
					if err != nil {
						t.Fatalf("stream: %v\n%s", err, in)
					}
					want := 0
					for _, s := range says {
						if s.tool != "" && marked(s) {
							want++
						}
					}
					if o.Refused != want || leaks(out.String()) {
						t.Fatalf("refused %d, want %d\nin:\n%s\nout:\n%s", o.Refused, want, in, out.String())
					}
					if want == 0 && !sameEvents(api, out.String(), in) {
						t.Fatalf("nothing was refused and the bytes differ\nin:\n%s\nout:\n%s", in, out.String())
					}
					if first == "" {
						first = out.String()
					} else if first != out.String() {
						t.Fatalf("cut into %d bytes:\n%q\nin one piece:\n%q", size, out.String(), first)
					}
					if read := readers[api]; read != nil && !strings.Contains(in, "\r") {
						if _, err := read(out.String()); err != nil {
							t.Fatalf("the client: %v\n%s", err, out.String())
						}
					}
				}
			})
		})
	}
}

// TestBrokenStreamsNeverLeakACall damages streams in every way a byte can be damaged.
func TestBrokenStreamsNeverLeakACall(t *testing.T) {
	j := newJudge(t)
	for _, api := range formats {
		t.Run(fmt.Sprint("format ", api), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := []byte(stream(api, append(talk(t), saying{tool: bad, id: "x1", args: `{"v":"` + bad + `"}`})))
				for range rapid.IntRange(1, 4).Draw(t, "damages") {
					in = damaged(t, in)
				}
				one, err1 := run(api, in, 1<<20, j)
				two, err2 := run(api, in, rapid.IntRange(1, 9).Draw(t, "size"), j)
				if one != two || (err1 == nil) != (err2 == nil) {
					t.Fatalf("cut or not makes a difference\n%q %v\n%q %v", one, err1, two, err2)
				}
				if carried(one) {
					t.Fatalf("a refused call went out:\nin:\n%s\nout:\n%s", in, one)
				}
			})
		})
	}
}

func run(api format.API, in []byte, size int, j release.Judge) (string, error) {
	var out bytes.Buffer
	_, err := release.Stream(context.Background(), release.Options{API: api}, &out, cut{bytes.NewReader(in), size}, j)
	return out.String(), err
}

func damaged(t *rapid.T, in []byte) []byte {
	if len(in) == 0 {
		return in
	}
	events := bytes.SplitAfter(in, []byte("\n\n"))
	i, k := rapid.IntRange(0, len(events)-1).Draw(t, "i"), rapid.IntRange(0, len(events)-1).Draw(t, "k")
	switch rapid.IntRange(0, 6).Draw(t, "damage") {
	case 0: // an event is lost
		events[i] = nil
	case 1: // two change places
		events[i], events[k] = events[k], events[i]
	case 2: // one comes twice
		events[i] = append(bytes.Clone(events[i]), events[i]...)
	case 3: // the stream ends
		return in[:rapid.IntRange(0, len(in)).Draw(t, "end")]
	case 4: // a byte changes
		at := rapid.IntRange(0, len(in)-1).Draw(t, "at")
		in = bytes.Clone(in)
		in[at] = rapid.SampledFrom([]byte("\n\r\x00\"{}[]:,\\ aA\xff\xe2")).Draw(t, "byte")
		return in
	case 5: // a line end is lost or doubled
		events[i] = bytes.ReplaceAll(events[i], []byte("\n"), []byte(rapid.SampledFrom([]string{"", "\r", "\n\n", "\r\n", "\u2028", "\v"}).Draw(t, "line end")))
	case 6: // spelled in another way
		events[i] = bytes.ReplaceAll(events[i], []byte("tool"), []byte(rapid.SampledFrom([]string{"Tool", "to\\u006fl", "TOOL"}).Draw(t, "spelling")))
	}
	return bytes.Join(events, nil)
}

// carried looks for a refused call the way a careless client would: line by line, with or
// without an event around it, in any spelling. Damage can turn a call into plain text, which
// may go out; a name and arguments that stand where a call has them may not.
func carried(out string) bool {
	out = plain(out)
	for _, re := range callShapes {
		if re.MatchString(out) {
			return true
		}
	}
	return false
}

var callShapes = []*regexp.Regexp{
	regexp.MustCompile(`(?i)"name": ?"` + bad),
	regexp.MustCompile(`(?i)"(arguments|partial_json|args|input)": ?[{"][^}]*` + bad[:4]),
	regexp.MustCompile(`(?i)"delta":"[^"]*` + bad),
}

// refuser refuses everything, the same way each time.
type refuser struct{}

func (refuser) Decide(context.Context, tool.Call) (release.Ruling, error) {
	return release.Ruling{}, nil
}
func (refuser) Observe(context.Context, string, string, []byte) error { return nil }

func FuzzStream(f *testing.F) {
	j := refuser{}
	for i, api := range formats {
		f.Add(uint8(i), []byte(stream(api, []saying{{text: "a"}, {tool: bad, id: "1", args: `{"v":"` + bad + `"}`}, {tool: "read", id: "2", args: `{}`}})), uint8(3))
		f.Add(uint8(i), []byte(stream(api, []saying{{thinking: "t", text: "a"}, {hosted: true}})), uint8(1))
	}
	f.Add(uint8(3), []byte(`[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"`+bad+`"}}]}}]},{}]`), uint8(2))
	f.Fuzz(func(t *testing.T, which uint8, in []byte, size uint8) {
		api := formats[int(which)%len(formats)]
		one, err1 := run(api, in, 1<<20, j)
		two, err2 := run(api, in, int(size)+1, j)
		if one != two || (err1 == nil) != (err2 == nil) {
			t.Fatalf("cut or not makes a difference\n%q %v\n%q %v", one, err1, two, err2)
		}
		if err1 != nil && !errors.Is(err1, format.ErrRefused) {
			t.Fatalf("got %v, want a refusal", err1)
		}
		if read := readers[api]; read != nil {
			if v, err := read(one); err == nil {
				for _, p := range v.Parts {
					if strings.HasPrefix(p, "call ") {
						t.Fatalf("a client read %q\n%s", p, one)
					}
				}
			}
		}
	})
}

func FuzzWhole(f *testing.F) {
	j := refuser{}
	for i, api := range formats {
		f.Add(uint8(i), []byte(wholeBody(api, []saying{{text: "a"}, {tool: bad, id: "1", args: `{"v":"` + bad + `"}`}})))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		api := formats[int(which)%len(formats)]
		out, o, err := release.Whole(context.Background(), release.Options{API: api}, body, j)
		if err != nil {
			return
		}
		if o.Refused == 0 && !bytes.Equal(out, body) {
			t.Fatalf("nothing was refused and the bytes differ: %s", out)
		}
		again, o2, err := release.Whole(context.Background(), release.Options{API: api}, out, j)
		if err != nil || o2.Calls != 0 || !bytes.Equal(again, out) {
			t.Fatalf("a second time: %v, calls %d\n%s\n%s", err, o2.Calls, out, again)
		}
	})
}
