package judges_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
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

const many = 100_000 // tiny events

// streamTricks are what an upstream can do to a client that wants a stream.
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
		{"gzip", "streamed", complete, func(a *answer) {
			a.head(http.StatusOK, asStream, "Content-Encoding: gzip")
			a.write(gzipped(a.usual().String()))
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
			s.events = append(s.events, event{s.events[0].name, `{"tool_calls":[{"name":"` + a.tool + `"`})
			a.chunked(true, s.call(a.tool, a.args).end().String())
		}},
		{"names-twice", "streamed", broken, func(a *answer) {
			a.chunked(true, strings.ReplaceAll(a.usual().String(), `"name":"`+a.tool+`"`, `"name":"look","name":"`+a.tool+`"`))
		}},
		{"names-in-capitals", "streamed", safe, func(a *answer) {
			a.chunked(true, strings.NewReplacer(`"name"`, `"Name"`, `"tool_calls"`, `"Tool_Calls"`, `"functionCall"`, `"FunctionCall"`, `"item"`, `"Item"`).Replace(a.usual().String()))
		}},
		{"data-in-two-lines", "streamed", safe, func(a *answer) {
			a.chunked(true, strings.ReplaceAll(a.usual().String(), `,"`, ",\ndata: \""))
		}},
		{"tiny-events", "streamed", complete, tinyEvents},
		{"alive-for-ever", "streamed", expires, aliveForEver},
		{"half-open", "streamed", expires, func(a *answer) {
			a.head(http.StatusOK, asStream)
			a.write(a.withoutEnd())
			a.untilLeft()
		}},
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

// tricks are all of them; those here do not depend on streaming.
func tricks() []trick {
	return append(streamTricks(),
		trick{"usual-whole", "whole", complete, func(a *answer) { a.json(whole(a.kind, "some text", a.tool, a.args)) }},
		trick{"gzip-whole", "whole", complete, func(a *answer) {
			a.head(http.StatusOK, asJSON, "Content-Encoding: gzip")
			a.write(gzipped(whole(a.kind, "some text", a.tool, a.args)))
		}},
		trick{"two-documents", "whole", broken, func(a *answer) {
			a.json(whole(a.kind, "some text", "", "") + "\n" + whole(a.kind, "some text", a.tool, a.args))
		}},
		trick{"bad-json-whole", "whole", broken, func(a *answer) {
			s := whole(a.kind, "some text", a.tool, a.args)
			a.json(s[:len(s)-1])
		}},
		trick{"cut-whole", "whole", broken, func(a *answer) {
			s := whole(a.kind, "some text", a.tool, a.args)
			a.head(http.StatusOK, asJSON, "Content-Length: "+strconv.Itoa(len(s)+10))
			a.write(s)
		}},
		trick{"stream-unasked", "whole", safe, func(a *answer) { a.stream(a.usual().String()) }},
		trick{"json-unasked", "streamed", safe, func(a *answer) { a.json(whole(a.kind, "some text", a.tool, a.args)) }},
		trick{"plain-text", "", broken, func(a *answer) {
			a.head(http.StatusOK, "Content-Type: text/plain")
			a.write(a.usual().String())
		}},
		trick{"no-type", "", safe, func(a *answer) {
			a.head(http.StatusOK, "X-Nothing: 1")
			a.write(a.usual().String())
		}},
		trick{"stream-called-json", "", broken, func(a *answer) { a.json(a.usual().String()) }},
		trick{"other-success", "", safe, func(a *answer) {
			a.head(http.StatusNonAuthoritativeInfo, asStream)
			a.write(a.usual().String())
		}},
		trick{"redirect", "", broken, func(a *answer) { elsewhereInstead(a) }},
		trick{"call-in-error", "", broken, func(a *answer) {
			a.head(http.StatusTeapot, asJSON)
			a.write(whole(a.kind, "some text", a.tool, a.args))
		}},
		trick{"not-http", "", broken, func(a *answer) { a.write("hello?\r\n\r\n") }},
		trick{"hang-up", "", broken, func(*answer) {}},
		trick{"hints-first", "", safe, func(a *answer) {
			a.write("HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n")
			a.stream(a.usual().String())
		}},
		trick{"silent", "", expires, func(a *answer) { a.untilLeft() }},
	)
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
