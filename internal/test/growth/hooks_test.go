//go:build unix

package growth_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func quote(text string) string {
	raw, err := strictjson.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// long are texts of n parts of every kind that is read for something.
var long = map[string]func(n int) string{
	"ways up":         func(n int) string { return strings.Repeat("../", n) + "x" },
	"folders":         func(n int) string { return "/" + numbered(n, "a#/") + "x" },
	"patterns":        func(n int) string { return strings.Repeat("*/", n) + "x" },
	"words":           func(n int) string { return numbered(n, "word# ") },
	"one word":        func(n int) string { return strings.Repeat("a", n) },
	"letters":         func(n int) string { return strings.Repeat("Ⱥ", n) },
	"marks":           func(n int) string { return "e" + strings.Repeat("\u0301", n) },
	"spaces":          func(n int) string { return "a" + strings.Repeat(" ", n) + "b" },
	"lines":           func(n int) string { return strings.Repeat("\n", n) },
	"commas":          func(n int) string { return strings.Repeat("a,", n) },
	"addresses":       func(n int) string { return numbered(n, "a#@b.example, ") },
	"at signs":        func(n int) string { return strings.Repeat("a@", n) },
	"dots":            func(n int) string { return strings.Repeat("a.", n) + "x" },
	"links":           func(n int) string { return numbered(n, "https://a#.example/x ") },
	"parts of a link": func(n int) string { return "https://a.example/?" + numbered(n, "k#=v&") },
	"escapes":         func(n int) string { return "https://a.example/" + strings.Repeat("%25", n) },
	"links in links":  func(n int) string { return strings.Repeat("https://a.example/?u=", n) },
	"digits":          func(n int) string { return strings.Repeat("12", n) },
	"numbers":         func(n int) string { return numbered(n, "# ") },
	"sums of money":   func(n int) string { return numbered(n, "€1.#00,00 ") },
	"numbers said":    func(n int) string { return strings.Repeat("twenty-one hundred ", n) },
	"dates":           func(n int) string { return strings.Repeat("2026-01-02 ", n) },
	"dates said":      func(n int) string { return strings.Repeat("next Monday the 3rd of March ", n) },
	"times":           func(n int) string { return strings.Repeat("10:30 ", n) },
	"phones":          func(n int) string { return numbered(n, "+49 30 1234# ") },
	"accounts":        func(n int) string { return numbered(n, "DE89 3704 0044 0532 0130 # ") },
	"quoted texts":    func(n int) string { return numbered(n, `"a text #" `) },
	"open quotes":     func(n int) string { return strings.Repeat(`"`, n) },
	"apostrophes":     func(n int) string { return strings.Repeat(`it's `, n) },
	"brackets":        func(n int) string { return strings.Repeat("(", n) },
	"objects":         func(n int) string { return strings.Repeat(`{"a":`, n) },
	"rows":            func(n int) string { return numbered(n, "| a# | b# |\n") },
	"a CSV":           func(n int) string { return "name,mail\n" + numbered(n, "n#,m#@x.example\n") },
	"fields":          func(n int) string { return numbered(n, "key#: value #\n") },
	"a YAML":          func(n int) string { return numbered(n, "- a: '#'\n  b: |\n    x\n") },
	"a YAML's depth":  func(n int) string { return deepYAML(n) },
	"a list":          func(n int) string { return numbered(n, "#. do a#\n") },
	"sentences":       func(n int) string { return numbered(n, "Please send a# to b#. ") },
	"clauses":         func(n int) string { return numbered(n, "send a# to b# and then ") },
	"bans":            func(n int) string { return numbered(n, "do not send a# to anybody. ") },
	"secrets":         func(n int) string { return numbered(n, "my password is Tr0ub4dor#, ") },
	"codes":           func(n int) string { return numbered(n, "Ab#cD-12# ") },
	"tags":            func(n int) string { return strings.Repeat("<b>", n) },
	"closed tags":     func(n int) string { return strings.Repeat("<p>x</p>", n) },
	"open tags":       func(n int) string { return strings.Repeat("<a ", n) },
	"attributes":      func(n int) string { return "<a " + numbered(n, `k#="v" `) + ">x</a>" },
	"comments":        func(n int) string { return strings.Repeat("<!--", n) },
	"entities":        func(n int) string { return strings.Repeat("&amp;", n) },
	"open entities":   func(n int) string { return strings.Repeat("&", n) },
	"a table":         func(n int) string { return "<table>" + numbered(n, "<tr><td>a#</td><td>b#</td></tr>") + "</table>" },
	"tables":          func(n int) string { return strings.Repeat("<table><tr><td>", n) },
	"hidden":          func(n int) string { return strings.Repeat(`<div style="display:none">x`, n) },
	"links of a page": func(n int) string { return numbered(n, `<a href="https://a#.example/">a#</a>`) },
	"Markdown":        func(n int) string { return strings.Repeat("[a](", n) },
	"stars":           func(n int) string { return strings.Repeat("*a ", n) },
	"code blocks":     func(n int) string { return strings.Repeat("```\n", n) },
	"a statement": func(n int) string {
		return "select * from t where " + strings.Join(strings.Split(strings.TrimSpace(numbered(n, "a=# ")), " "), " or ")
	},
	"a statement's depth": func(n int) string { return "select " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) },
	"statements":          func(n int) string { return strings.Repeat("select 1; ", n) },
	"comments of SQL":     func(n int) string { return "select " + strings.Repeat("/*", n) },
	"values of SQL":       func(n int) string { return "insert into t values (1)" + numbered(n, ",(#)") },
	"a query":             func(n int) string { return "query { a " + numbered(n, "f#(x: 1) ") + "}" },
	"a query's depth":     func(n int) string { return "mutation " + strings.Repeat("{a ", n) + strings.Repeat("}", n) },
	"fragments": func(n int) string {
		return "query { ...f0 } " + numbered(n, "fragment f# on T { ...f1 ...f2 } ")
	},
	"pipes":         func(n int) string { return "a" + strings.Repeat("|b", n) },
	"commands":      func(n int) string { return numbered(n, "ls a#; ") },
	"substitutions": func(n int) string { return "echo " + strings.Repeat("$(echo ", n) + strings.Repeat(")", n) },
	"loops":         func(n int) string { return strings.Repeat("for i in a b; do ", n) + "ls" + strings.Repeat("; done", n) },
	"groups":        func(n int) string { return strings.Repeat("(", n) + "ls" + strings.Repeat(")", n) },
	"variables":     func(n int) string { return numbered(n, "v#=x; ") + "rm" + numbered(n, " $v#") },
	"documents":     func(n int) string { return numbered(n, "cat > f# <<E\nx\nE\n") },
	"one document":  func(n int) string { return "cat > f <<E\n" + strings.Repeat("line\n", n) + "E" },
	"braces":        func(n int) string { return "echo " + strings.Repeat("{a,b}", n) },
	"options":       func(n int) string { return "curl" + numbered(n, " -H a:#") + " https://a.example" },
	"packages":      func(n int) string { return "npm install" + numbered(n, " p#") },
	"files":         func(n int) string { return "rm" + numbered(n, " a/f#") },
	"backslashes":   func(n int) string { return strings.Repeat(`\`, n) },
	"a pattern":     func(n int) string { return strings.Repeat("(a|", n) + strings.Repeat(")", n) },
	"code":          func(n int) string { return "python3 -c '" + numbered(n, `open("f#","w");`) + "'" },
	"a patch": func(n int) string {
		return "*** Begin Patch\n" + numbered(n, "*** Update File: f#\n+x\n") + "*** End Patch\n"
	},
}

func deepYAML(n int) string {
	var b strings.Builder
	for i := range min(n, 2048) { // its bytes are quadratic by themselves
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// shapes are arguments of n parts.
var shapes = map[string]func(n int) string{
	"keys":           func(n int) string { return `{"x":1` + numbered(n, `,"key_#":"value #"`) + `}` },
	"entries":        func(n int) string { return `{"to":["a@b.example"` + numbered(n, `,"a#@b.example"`) + `]}` },
	"lists in lists": func(n int) string { return `{"to":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` },
	"objects":        func(n int) string { return `{"to":` + strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) + `}` },
	"rows": func(n int) string {
		return `{"items":[{"id":0}` + numbered(n, `,{"id":#,"path":"a/b#","to":"c#"}`) + `]}`
	},
	"a long key":      func(n int) string { return `{"` + strings.Repeat("k_", n) + `":1}` },
	"a long number":   func(n int) string { return `{"amount":` + strings.Repeat("9", n) + `}` },
	"escapes":         func(n int) string { return `{"to":"` + strings.Repeat(`\u00e9`, n) + `"}` },
	"texts of texts":  func(n int) string { return `{"to":` + wrapped(n) + `}` },
	"equal entries":   func(n int) string { return `{"to":["a"` + strings.Repeat(`,"a"`, n) + `]}` },
	"numbers":         func(n int) string { return `{"amount":[1` + numbered(n, `,#`) + `]}` },
	"empty objects":   func(n int) string { return `{"a":[{}` + strings.Repeat(`,{}`, n) + `]}` },
	"keys of one row": func(n int) string { return `{"rows":[{"x":1` + numbered(n, `,"k#":#`) + `}]}` },
}

// wrapped is a text that holds a text, and so on.
func wrapped(n int) string {
	out := `"x"`
	for range min(n, 1000) {
		if len(out) > widest {
			break
		}
		out = quote(`{"a":` + out + `}`)
	}
	return out
}

// called are tools with a value in every kind of place, and the kinds of value that are often tried there.
var called = []struct {
	tool, args string
	often      []string
}{
	{"write", `{"path":%s,"content":"x"}`, []string{"ways up", "folders", "patterns", "one word", "letters", "marks", "backslashes", "dots"}},
	{"exec", `{"command":%s}`, []string{
		"pipes", "commands", "substitutions", "loops", "groups", "variables", "documents", "one document", "braces", "options", "packages", "files", "code",
		"backslashes", "open quotes", "words", "ways up", "letters",
	}},
	{"web_fetch", `{"url":%s}`, []string{"parts of a link", "escapes", "links in links", "links", "dots", "at signs", "folders"}},
	{"send_email", `{"to":%s,"body":"x"}`, []string{"addresses", "at signs", "dots", "commas", "words", "quoted texts", "one word"}},
	{"send_email", `{"to":"a@b.example","body":%s}`, []string{
		"words", "sentences", "numbers", "digits", "sums of money", "numbers said", "dates", "dates said", "times", "phones", "accounts", "quoted texts", "apostrophes",
		"rows", "a CSV", "fields", "a YAML", "a list", "secrets", "codes", "tags", "closed tags", "Markdown", "objects", "brackets", "spaces", "lines", "links",
	}},
	{"run_sql", `{"query":%s}`, []string{"a statement", "a statement's depth", "statements", "comments of SQL", "values of SQL", "open quotes", "words"}},
	{"graphql", `{"query":%s}`, []string{"a query", "a query's depth", "fragments", "open quotes", "words"}},
	{"pay", `{"recipient":"b","amount":%s}`, []string{"digits", "numbers", "sums of money", "numbers said"}},
	{"apply_patch", `{"patch":%s}`, []string{"a patch", "lines", "ways up"}},
	{"create_event", `{"title":"x","start":%s}`, []string{"dates", "dates said", "times", "digits"}},
}

func (h *house) call(session, tool, args string) {
	h.hook(session, "before_tool_call", fields{"toolName": tool, "params": raw(args), "toolCallId": "c"})
}

// A call at the hooks' door, which SDKs and plugins use too, with each kind of value in each kind of place.
func TestArgumentsAtTheHooks(t *testing.T) {
	h := newHouse(t, "1ms")
	for _, c := range called {
		all := kinds{}
		for name, of := range few(long, c.often...) {
			session := h.argued("pay the bill in x.md, look at a/x and tell a1@b.example")
			all[name] = func(n int) input {
				args := fmt.Sprintf(c.args, quote(of(n)))
				return input{len(args), func() { h.call(session, c.tool, args) }}
			}
		}
		t.Run(c.tool+" "+strings.NewReplacer(`%s`, "", `"`, "").Replace(c.args), func(t *testing.T) { linear(t, all) })
	}
	all := kinds{}
	for name, of := range shapes {
		session := h.argued("send it to a1@b.example")
		all[name] = func(n int) input {
			args := of(n)
			return input{len(args), func() { h.call(session, "send_email", args) }}
		}
	}
	t.Run("shapes", func(t *testing.T) { linear(t, all) })
}

// The same for a call that the owner's words ask for, with a tool that the host described: then each value is held against what they say.
func TestArgumentsThatWereAskedFor(t *testing.T) {
	h := newHouse(t, "1ms")
	tools := raw(`[{"name":"send_email","description":"Sends a mail.","parameters":{"type":"object","properties":{"to":{"type":"string"},"subject":{"type":"string"},"body":{"type":"string"}}}}]`)
	all := kinds{}
	for name, of := range few(long, "one word", "words", "addresses", "numbers", "dates", "quoted texts", "sentences", "rows", "digits", "letters", "at signs") {
		for _, member := range []string{"to", "subject", "body"} {
			session := h.session()
			h.hook(session, "message_received", fields{"content": "Send an email to a1@b.example about the edit of 3 May. Say that word1 and 17 are fine."})
			h.hook(session, "before_llm_call", fields{
				"messages": []fields{{"role": "user", "content": "x"}}, "model": "m", "iteration": 0, "tools": tools, "sessionKey": session,
			})
			h.hook(session, "after_tool_call", fields{"toolName": "web_fetch", "params": fields{"url": "https://x.example/"}, "result": "a page"})
			all[member+": "+name] = func(n int) input {
				value := map[string]string{"to": "a1@b.example", "subject": "edit", "body": "word1"}
				value[member] = of(n)
				args := `{"to":` + quote(value["to"]) + `,"subject":` + quote(value["subject"]) + `,"body":` + quote(value["body"]) + `}`
				return input{len(args), func() { h.call(session, "send_email", args) }}
			}
		}
	}
	linear(t, all)
}

// What the owner says, what a tool brings back, as text and as JSON, and what a model is asked: each with the call that follows.
func TestWhatComesIn(t *testing.T) {
	h := newHouse(t, "1ms")
	words, results, shaped, answers := kinds{}, kinds{}, kinds{}, kinds{}
	whole := maps.Clone(long)
	maps.Copy(whole, map[string]func(n int) string{
		"records": func(n int) string {
			return `[{"name":"x"}` + numbered(n, `,{"name":"word# person","email":"a#@b.example","f":"f#"}`) + `]`
		},
		"alike": func(n int) string {
			return `[{"name":"x"}` + strings.Repeat(`,{"name":"Petra","email":"a1@b.example"}`, n) + `]`
		},
		"pairs": func(n int) string { return `{"x":"y"` + numbered(n, `,"k#":"v#"`) + `}` },
		"deep": func(n int) string {
			return strings.Repeat(`{"a":`, min(n, 190)) + "1" + strings.Repeat("}", min(n, 190))
		},
	})
	const mail = `{"to":"a1@b.example","body":"The page says: a1 b1 word1."}`
	for name, of := range few(whole, "words", "sentences", "clauses", "bans", "dates said", "numbers said", "quoted texts", "open quotes", "apostrophes", "a list", "fields", "records",
		"fragments", "braces", "code", "addresses", "secrets", "one word", "letters", "brackets") {
		words[name] = func(n int) input {
			text, session := of(n), h.argued("look at it")
			return input{len(text), func() {
				h.hook(session, "message_received", fields{"content": "Mail Petra, a1@b.example. " + text})
				h.call(session, "send_email", mail)
			}}
		}
	}
	for name, of := range few(whole, "words", "sentences", "records", "alike", "pairs", "deep", "rows", "a CSV", "a YAML", "a YAML's depth", "a table", "tables", "tags", "open tags",
		"attributes", "comments", "entities", "hidden", "links of a page", "links", "numbers", "dates", "open quotes", "Markdown", "one word") {
		results[name] = func(n int) input {
			text, session := of(n), h.argued("Mail Petra what the page says")
			return input{len(text), func() {
				h.hook(session, "after_tool_call", fields{"toolName": "list_contacts", "params": fields{}, "result": text})
				h.call(session, "send_email", mail)
			}}
		}
	}
	for name, of := range few(shapes, "keys", "entries", "objects", "rows", "texts of texts", "escapes") {
		shaped[name] = func(n int) input {
			text, session := of(n), h.argued("Mail Petra what the page says")
			return input{len(text), func() {
				h.hook(session, "after_tool_call", fields{"toolName": "list_contacts", "params": fields{}, "result": raw(text)})
				h.call(session, "send_email", mail)
			}}
		}
	}
	for name, of := range few(long, "Markdown", "tags", "comments", "code blocks", "sentences", "stars", "links of a page", "words") {
		answers[name] = func(n int) input {
			text, session := of(n), h.argued("What would you tell Petra?")
			return input{len(text), func() {
				h.hook(session, "before_response_emit", fields{"content": text + " Shall I mail a1@b.example?"})
				h.hook(session, "message_received", fields{"content": "yes"})
				h.call(session, "send_email", mail)
			}}
		}
	}
	t.Run("answers", func(t *testing.T) { linear(t, answers) })
	t.Run("words", func(t *testing.T) { linear(t, words) })
	t.Run("results", func(t *testing.T) { linear(t, results) })
	t.Run("shaped results", func(t *testing.T) { linear(t, shaped) })
}

// A session of n results, calls, messages or questions: all of it together grows with their number, so that the last takes no more than the first.
func TestSessionsThatGoOn(t *testing.T) {
	h := newHouse(t, "1ms")
	often := func(act func(session string, i int)) func(n int) input {
		return func(n int) input {
			session := h.argued("Mail Petra what the pages say, and look at them")
			return input{n << 8, func() {
				for i := range n {
					act(session, i)
				}
			}}
		}
	}
	linear(t, kinds{
		"results": often(func(s string, i int) {
			h.hook(s, "after_tool_call", fields{"toolName": "web_fetch", "params": fields{"url": "https://x.example/"}, "result": fmt.Sprint("page ", i)})
		}),
		"calls":    often(func(s string, i int) { h.call(s, "read", fmt.Sprintf(`{"path":"f%d"}`, i)) }),
		"files":    often(func(s string, i int) { h.call(s, "write", fmt.Sprintf(`{"path":"f%d","content":"x"}`, i)) }),
		"commands": often(func(s string, i int) { h.call(s, "exec", fmt.Sprintf(`{"command":"ls > f%d"}`, i)) }),
		"questions": often(func(s string, i int) {
			h.call(s, "send_email", fmt.Sprintf(`{"to":"e%d@evil.example","body":"x"}`, i))
		}),
		"messages": often(func(s string, i int) {
			h.hook(s, "message_received", fields{"content": fmt.Sprint("Mail number ", i, " to Petra")})
		}),
		"the same": often(func(s string, _ int) { h.call(s, "send_email", `{"to":"e@evil.example","body":"x"}`) }),
	})
}

// Definitions of tools that a host tells before it asks a model.
func TestDefinitionsAtTheHooks(t *testing.T) {
	h := newHouse(t, "1ms")
	tell := func(tools string) {
		s := h.session()
		h.hook(s, "message_received", fields{"content": "Mail Petra"})
		h.hook(s, "before_llm_call", fields{
			"messages": []fields{{"role": "user", "content": "Mail Petra"}}, "model": "m", "iteration": 0, "tools": raw(tools), "sessionKey": s,
		})
		h.call(s, "send_email", `{"to":"a1@b.example","body":"x"}`)
	}
	linear(t, texts(definitions(func(name, description, schema string) string {
		return fmt.Sprintf(`{"name":%q,"description":%s,"parameters":%s}`, name, quote(description), schema)
	}), tell))
}

// definitions are lists of tools, with n of something.
func definitions(one func(name, description, schema string) string) map[string]func(n int) string {
	const plain = `{"type":"object","properties":{"to":{"type":"string"},"body":{"type":"string"}}}`
	mail := func(description, schema string) string { return "[" + one("send_email", description, schema) + "]" }
	out := map[string]func(n int) string{
		"tools": func(n int) string {
			return "[" + one("send_email", "Sends a mail.", plain) + numbered(n, ","+one("tool_#", "Does # things to files.", plain)) + "]"
		},
		"parameters": func(n int) string {
			return mail("Sends.", `{"type":"object","properties":{"to":{"type":"string"}`+numbered(n, `,"p#":{"type":"string","description":"name of #"}`)+`}}`)
		},
		"values of an enum": func(n int) string {
			return mail("Sends.", `{"type":"object","properties":{"to":{"enum":["a"`+numbered(n, `,"v#"`)+`]}}}`)
		},
		"depth": func(n int) string {
			d := min(n, 90)
			return mail("Sends.", `{"type":"object","properties":{"to":`+strings.Repeat(`{"type":"object","properties":{"a":`, d)+`{}`+strings.Repeat("}}", d)+`}}`)
		},
		"references": func(n int) string {
			return mail("Sends.", `{"type":"object","$defs":{"a":{}`+numbered(n, `,"d#":{"anyOf":[{"$ref":"#/$defs/d1"},{"$ref":"#/$defs/d2"}]}`)+`},"properties":{"to":{"$ref":"#/$defs/d0"}}}`)
		},
	}
	for name, of := range few(long, "words", "sentences", "tags", "links") {
		out["a description: "+name] = func(n int) string { return mail("Sends a mail. "+of(n), plain) }
	}
	return out
}
