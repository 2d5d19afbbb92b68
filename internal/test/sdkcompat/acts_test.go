package sdkcompat_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// expected is what a client must make of an act.
type expected int

const (
	safe     expected = iota // no hang, no call that was not decided; more is not asked for
	complete                 // the text and, where it is allowed, the call
	broken                   // an error of the client's own, and no call
	expires                  // only the client's deadline ends it
)

// trick is something an upstream does, and what must come of it.
type trick struct {
	name string
	mode string // streamed, whole; "" is both
	want expected
	act  act
}

// tiny is the trick of many tiny events.
const tiny = "tiny-events"

// heavy reports whether a trick is most of all work for the client.
func (k trick) heavy() bool { return k.name == tiny }

// streamTricks are ways to send a stream.
func streamTricks() []trick {
	return []trick{
		{"usual", "streamed", complete, func(a *answer) { a.chunked(true, a.usual().String()) }},
		{"byte-by-byte", "streamed", complete, func(a *answer) { a.chunked(true, strings.Split(a.usual().String(), "")...) }},
		{"carriage-returns", "streamed", safe, func(a *answer) { a.chunked(true, strings.ReplaceAll(a.usual().String(), "\n", "\r")) }},
		{"both-line-ends", "streamed", complete, func(a *answer) { a.chunked(true, strings.ReplaceAll(a.usual().String(), "\n", "\r\n")) }},
		{"byte-order-mark", "streamed", safe, func(a *answer) { a.chunked(true, "\ufeff"+a.usual().String()) }},
		{"comments-between", "streamed", complete, func(a *answer) {
			a.chunked(true, strings.ReplaceAll(a.usual().String(), "\n\n", "\n\n: still here\n\n"))
		}},
		{"signs-of-life", "streamed", complete, signsOfLife},
		{tiny, "streamed", complete, tinyEvents},
		{"gzip", "streamed", complete, func(a *answer) {
			a.head(http.StatusOK, asStream, "Content-Encoding: gzip")
			a.write(gzipped(a.usual().String()))
		}},
		{"brotli", "streamed", complete, func(a *answer) {
			a.head(http.StatusOK, asStream, "Content-Encoding: br")
			a.write(squeezed(a.usual().String(), func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }))
		}},
		{"zstandard", "streamed", complete, func(a *answer) {
			a.head(http.StatusOK, asStream, "Content-Encoding: zstd")
			a.write(squeezed(a.usual().String(), func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }))
		}},
		{"gzip-cut", "streamed", broken, func(a *answer) {
			a.head(http.StatusOK, asStream, "Content-Encoding: gzip")
			z := gzipped(a.usual().String())
			a.write(z[:len(z)/3])
		}},
		{"unknown-coding", "streamed", broken, func(a *answer) {
			a.head(http.StatusOK, asStream, "Content-Encoding: br")
			a.write(a.usual().String())
		}},
	}
}

// callTricks are what an upstream can do with a call in a stream.
func callTricks() []trick {
	return []trick{
		{"calls-interleaved", "streamed", safe, interleaved},
		{"cut-in-call", "streamed", broken, func(a *answer) { a.chunked(false, a.withoutEnd()) }},
		{"ends-in-call", "streamed", broken, func(a *answer) { a.chunked(true, a.withoutEnd()) }},
		{"no-blank-line", "streamed", safe, func(a *answer) {
			s := a.script().begin().text("some ", "text").call(a.tool, a.args)
			a.chunked(true, strings.TrimRight(s.String(), "\n"))
		}},
		{"call-after-end", "streamed", safe, func(a *answer) {
			a.chunked(true, a.script().begin().text("some text").end().call(a.tool, a.args).end().String())
		}},
		{"call-never-ends", "streamed", safe, neverEnds},
		{"bad-json", "streamed", broken, func(a *answer) {
			s := a.script().begin().text("some text")
			s.events = append(s.events, streamed{s.events[0].name, `{"tool_calls":[{"name":"` + a.tool + `"`})
			a.chunked(true, s.call(a.tool, a.args).end().String())
		}},
		{"names-twice", "streamed", broken, func(a *answer) {
			a.chunked(true, strings.ReplaceAll(a.usual().String(), `"name":"`+a.tool+`"`, `"name":"look","name":"`+a.tool+`"`))
		}},
		{"names-in-two-cases", "streamed", broken, func(a *answer) {
			a.chunked(true, strings.ReplaceAll(a.usual().String(), `"name":"`+a.tool+`"`, `"Name":"look","name":"`+a.tool+`"`))
		}},
		{"names-in-capitals", "streamed", safe, func(a *answer) {
			a.chunked(true, strings.NewReplacer(`"name"`, `"Name"`, `"tool_calls"`, `"Tool_Calls"`, `"functionCall"`, `"FunctionCall"`, `"item"`, `"Item"`).Replace(a.usual().String()))
		}},
		{"data-in-two-lines", "streamed", safe, func(a *answer) {
			a.chunked(true, strings.ReplaceAll(a.usual().String(), `,"`, ",\ndata: \""))
		}},
	}
}

// serverTricks are what servers do that speak like the providers: clients get their calls.
func serverTricks() []trick {
	swapped := func(name string, pairs ...string) trick {
		return trick{name, "streamed", complete, func(a *answer) {
			out := strings.NewReplacer(pairs...).Replace(a.usual().String())
			a.chunked(true, strings.ReplaceAll(out, "THE-TOOL", a.tool))
		}}
	}
	return []trick{
		swapped("finish-reason-empty", `"finish_reason":null`, `"finish_reason":""`),
		swapped("calls-without-index", `"id":"call_0","index":0`, `"id":"call_0"`, `"},"index":0}]}`, `"}}]}`),
		swapped("name-in-every-piece", `"},"index":0}]}`, `","name":"THE-TOOL"},"index":0}]}`),
		swapped("usage-that-counts-calls", `"created":1,`, `"created":1,"usage":{"num_tool_calls":{"name":1}},`),
		swapped("members-nobody-knows", `"model":"m",`, `"model":"m","new_member":{"kind":"x","list":[1,{"y":"z"}]},`),
	}
}

// neverEnds begins a call and goes on as if it had been one.
func neverEnds(a *answer) {
	s := a.script().begin().text("some text")
	before := len(s.events)
	s.call(a.tool, a.args)
	s.events = s.events[:min(before+2, len(s.events)-1)]
	a.chunked(true, s.text("and more").end().String())
}

// interleaved sends two calls piece by piece, in turns.
func interleaved(a *answer) {
	s := a.script().begin().text("some text")
	from := len(s.events)
	s.call(a.tool, a.args)
	one := slices.Clone(s.events[from:])
	s.call("look", `{"v":"beside `+a.tool+`"}`)
	two := slices.Clone(s.events[from+len(one):])
	s.events = s.events[:from]
	for i := range one {
		s.events = append(s.events, one[i], two[i])
	}
	a.chunked(true, s.end().String())
}

// signsOfLife sends between all events what the proxy itself sends while it waits.
func signsOfLife(a *answer) {
	sign := map[string]string{"chat": ": waiting for a decision\n\n", "responses": ": waiting for a decision\n\n", "messages": "event: ping\ndata: {\"type\":\"ping\"}\n\n"}[a.kind]
	a.chunked(true, strings.ReplaceAll(a.usual().String(), "\n\n", "\n\n"+sign))
}

func tinyEvents(a *answer) {
	words := make([]string, many)
	for i := range words {
		words[i] = "x"
	}
	a.stream(a.script().begin().text(words...).call(a.tool, a.args).end().String())
}

// aliveForEver sends signs of life until the client has gone.
func aliveForEver(a *answer) {
	a.stream(a.script().begin().String())
	beat := time.NewTicker(5 * time.Millisecond)
	defer beat.Stop()
	for a.write(": still here\n\n") {
		<-beat.C
	}
}

func tricks() []trick {
	return slices.Concat(streamTricks(), callTricks(), serverTricks(), wholeTricks(), typeTricks(), waitTricks())
}

// wholeTricks are ways to send an answer that is not a stream.
func wholeTricks() []trick {
	return []trick{
		{"usual-whole", "whole", complete, func(a *answer) { a.json(whole(a.kind, "some text", a.tool, a.args)) }},
		{"gzip-whole", "whole", complete, func(a *answer) {
			a.head(http.StatusOK, asJSON, "Content-Encoding: gzip")
			a.write(gzipped(whole(a.kind, "some text", a.tool, a.args)))
		}},
		{"two-documents", "whole", broken, func(a *answer) {
			a.json(whole(a.kind, "some text", "", "") + "\n" + whole(a.kind, "some text", a.tool, a.args))
		}},
		{"bad-json-whole", "whole", broken, func(a *answer) {
			s := whole(a.kind, "some text", a.tool, a.args)
			a.json(s[:len(s)-1])
		}},
		{"cut-whole", "whole", broken, func(a *answer) {
			s := whole(a.kind, "some text", a.tool, a.args)
			a.head(http.StatusOK, asJSON, "Content-Length: "+strconv.Itoa(len(s)+10))
			a.write(s)
		}},
		{"stream-unasked", "whole", safe, func(a *answer) { a.stream(a.usual().String()) }},
		{"json-unasked", "streamed", safe, func(a *answer) { a.json(whole(a.kind, "some text", a.tool, a.args)) }},
	}
}

// typeTricks are answers that are not what they are called.
func typeTricks() []trick {
	return []trick{
		{"plain-text", "", broken, func(a *answer) {
			a.head(http.StatusOK, "Content-Type: text/plain")
			a.write(a.usual().String())
		}},
		{"no-type", "", safe, func(a *answer) {
			a.head(http.StatusOK, "X-Nothing: 1")
			a.write(a.usual().String())
		}},
		{"stream-called-json", "", safe, func(a *answer) { a.json(a.usual().String()) }},
		{"other-success", "", safe, func(a *answer) {
			a.head(http.StatusNonAuthoritativeInfo, asStream)
			a.write(a.usual().String())
		}},
		{"redirect", "", broken, func(a *answer) { elsewhereInstead(a) }},
		{"call-in-error", "", broken, func(a *answer) {
			a.head(http.StatusTeapot, asJSON)
			a.write(whole(a.kind, "some text", a.tool, a.args))
		}},
		{"not-http", "", broken, func(a *answer) { a.write("hello?\r\n\r\n") }},
		{"hang-up", "", broken, func(*answer) {}},
		{"hints-first", "", safe, func(a *answer) {
			a.write("HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n")
			a.stream(a.usual().String())
		}},
	}
}

// waitTricks keep a client waiting until it has enough.
func waitTricks() []trick {
	return []trick{
		{"alive-for-ever", "streamed", expires, aliveForEver},
		{"half-open", "streamed", expires, func(a *answer) {
			a.head(http.StatusOK, asStream)
			a.write(a.withoutEnd())
			a.untilLeft()
		}},
		{"silent", "", expires, func(a *answer) { a.untilLeft() }},
	}
}

// elsewhereInstead sends the client to the upstream itself, past the proxy. There it would
// get the call.
func elsewhereInstead(a *answer) {
	if strings.Contains(a.path, "past-the-proxy") {
		if strings.Contains(a.path, "tream") {
			a.stream(a.usual().String())
			return
		}
		a.json(whole(a.kind, "some text", a.tool, a.args))
		return
	}
	path, query, _ := strings.Cut(a.path, "?")
	a.head(http.StatusTemporaryRedirect, "Location: "+a.base+"/past-the-proxy"+path+"?"+query, "Content-Length: 0")
}

func (a *answer) json(body string) {
	a.head(http.StatusOK, asJSON, fmt.Sprintf("Content-Length: %d", len(body)))
	a.write(body)
}
