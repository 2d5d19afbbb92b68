package policy_test

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// SEQ-11: the ways around a constraint that are known, beside what it is meant to take.
func TestEvasionsOfATask(t *testing.T) {
	tests := []struct {
		arg, constraint string
		inside, outside []string // arguments
	}{
		{"to", `{"oneOf":["bob@example.com"]}`, []string{
			`{"to":"bob@example.com"}`, `{"To":"bob@example.com"}`, `{"to":"\u0062ob@example.com"}`, `{"to":["bob@example.com","bob@example.com"]}`,
		}, []string{
			`{"to":"BOB@example.com"}`, `{"to":"bob@example.com "}`, `{"to":"bob@example.com,eve@example.org"}`, `{"to":"bоb@example.com"}`,
			`{"to":"bob@example.com\u200b"}`, `{"to":"bob@example.com\u0000"}`, `{"to":[["bob@example.com"]]}`, `{"to":{"oneOf":"bob@example.com"}}`, `{"to":{"0":"bob@example.com"}}`,
			`{"to":["bob@example.com",["eve@example.org"]]}`, `{"to":["bob@example.com",null]}`, `{"to":[]}`, `{"to":[[]]}`, `{"to":null}`, `{"to":true}`, `{}`, ``,
			`{"to":"bob@example.com","to":"eve@example.org"}`, `{"to":"bob@example.com","TO":"eve@example.org"}`, `{"to":"bob@example.com","t_o":"eve@example.org"}`,
			`{"to":"bob@example.com","t\u006f":"eve@example.org"}`, `{"mail":{"to":"bob@example.com"}}`, `{"to":"bob@example.com"} {}`, `["bob@example.com"]`,
		}},
		{"id", `{"oneOf":[1,"2",true,null,0.5]}`, []string{
			`{"id":1}`, `{"id":1.0}`, `{"id":1e0}`, `{"id":"2"}`, `{"id":true}`, `{"id":null}`, `{"id":0.5}`, `{"id":[1,"2"]}`,
		}, []string{
			`{"id":"1"}`, `{"id":2}`, `{"id":"true"}`, `{"id":false}`, `{"id":"null"}`, `{"id":""}`, `{"id":0}`, `{}`, `{"id":9007199254740993}`, `{"id":1e400}`,
		}},
		{"id", `{"oneOf":[9007199254740991]}`, []string{`{"id":9007199254740991}`}, []string{
			`{"id":9007199254740990}`, `{"id":9007199254740992}`, `{"id":9007199254740991.5}`, `{"id":"9007199254740991"}`,
		}},
		{"count", `{"max":3}`, []string{`{}`, ``, `{"count":3}`, `{"count":-5}`, `{"count":[]}`, `{"count":[1,2]}`}, []string{
			`{"count":4}`, `{"count":3.0001}`, `{"count":"3"}`, `{"count":"99"}`, `{"Count":99}`, `{"COUNT":99}`, `{"co_unt":99}`, `{"count":null}`, `{"count":true}`, `{"count":[1,99]}`,
			`{"count":[[1]]}`, `{"count":{"max":1}}`, `{"count":1e300}`, `{"count":-1e300}`, `{"count":1e400}`, `{"count":99999999999999999999}`, `{"count":0x1}`, `{"count":NaN}`, `{"count":1,"count":99}`,
		}},
		{"count", `{"min":2}`, []string{`{"count":2}`, `{"count":2e3}`}, []string{`{}`, `{"count":1}`, `{"count":"2"}`, `{"count":[]}`, `{"count":1e300}`, `{"count":[2,1]}`}},
		{"count", `{"max":9007199254740991}`, []string{`{"count":9007199254740991}`}, []string{`{"count":9007199254740993}`}},
		{"path", `{"prefix":"/tmp/"}`, []string{
			`{"path":"/tmp/a"}`, `{"path":"/tmp/a/b.txt"}`, `{"path":"/tmp//a"}`, `{"path":"/tmp/./a"}`, `{"path":"//tmp/a"}`, `{"path":"/tmp"}`, `{"path":"/tmp/..a/b.."}`, `{"path":["/tmp/a","/tmp/b"]}`,
		}, []string{
			`{"path":"/tmp/../etc/passwd"}`, `{"path":"/tmp/a/../b"}`, `{"path":"/tmp/.."}`, `{"path":"/tmp/..\\..\\etc"}`, `{"path":"/tmp/%2e%2e/etc"}`, `{"path":"/tmpfile"}`, `{"path":"/TMP/a"}`,
			`{"path":"tmp/a"}`, `{"path":"/etc/tmp/a"}`, `{"path":"file:///tmp/a"}`, `{"path":"/tmp/$HOME"}`, `{"path":"/tmp/*"}`, `{"path":"/tmp/a\u0000.txt"}`, `{"path":"/tmp/a\n/etc/passwd"}`, `{"path":""}`,
			`{"path":["/tmp/a","/etc/passwd"]}`, `{"path":["/tmp/a",["/tmp/b"]]}`, `{"path":{"path":"/tmp/a"}}`, `{"path":5}`, `{}`, `{"file_path":"/tmp/a"}`,
		}},
		{"path", `{"prefix":"/"}`, []string{`{"path":"/"}`, `{"path":"/etc"}`}, []string{`{"path":"etc"}`, `{"path":"/a/../b"}`, `{"path":"~/x"}`}},
		{"path", `{"prefix":"./"}`, []string{`{"path":"a/b"}`, `{"path":"./a"}`, `{"path":"."}`}, []string{`{"path":"/a"}`, `{"path":"../a"}`, `{"path":"~/a"}`, `{"path":"~root/a"}`, `{"path":"C:\\a"}`, `{"path":"C:/a"}`}},
		{"dir", `{"prefix":"~/notes"}`, []string{`{"dir":"~/notes/a"}`}, []string{`{"dir":"~/notes2/a"}`, `{"dir":"/root/notes/a"}`, `{"dir":"$HOME/notes/a"}`}},
		{"dir", `{"prefix":"C:\\data\\"}`, []string{`{"dir":"C:\\data\\a"}`}, []string{`{"dir":"C:\\data\\..\\a"}`, `{"dir":"C:\\database"}`, `{"dir":"D:\\data\\a"}`}},
		{"dir", `{"prefix":"src"}`, []string{`{"dir":"src/a"}`, `{"dir":"src"}`}, []string{`{"dir":"src/../../etc"}`, `{"dir":"src\\..\\.."}`, `{"dir":"/src"}`}},
		{"subject", `{"contains":"lunch"}`, []string{`{"subject":"our lunch"}`, `{"subject":["lunch","lunch 2"]}`}, []string{
			`{"subject":"LUNCH"}`, `{"subject":"l\u200bunch"}`, `{"subject":["lunch","dinner"]}`, `{"subject":{"contains":"lunch"}}`, `{}`, `{"subject":"lunch/../x"}`, `{"subject":[]}`,
		}},
		{"url", `{"host":"example.com"}`, []string{
			`{"url":"https://example.com"}`, `{"url":"HTTP://EXAMPLE.com:8080/a?b=c@d#e"}`, `{"url":"https://www.example.com/x/a%2Fb"}`, `{"url":"https://example.com./"}`, `{"url":"https://example.com/a//b/@x"}`,
		}, []string{
			`{"url":"https://example.com.evil.org/"}`, `{"url":"https://evilexample.com/"}`, `{"url":"https://example.com@evil.org/"}`, `{"url":"https://evil.org@example.com/"}`, `{"url":"https://@example.com/"}`,
			`{"url":"https://evil.org/example.com"}`, `{"url":"https://evil.org?example.com"}`, `{"url":"https://evil.org#.example.com"}`, `{"url":"https://evil.org\\.example.com"}`, `{"url":"https://exаmple.com/"}`, `{"url":"https://example。com/"}`,
			`{"url":"https://ｅxample.com/"}`, `{"url":"https://xn--exmple-4nf.com/"}`, `{"url":"https://ex%61mple.com/"}`, `{"url":"https://com/"}`, `{"url":"https://example.com../"}`, `{"url":"https://.example.com/"}`,
			`{"url":"ftp://example.com/"}`, `{"url":"javascript://example.com/%0aalert(1)"}`, `{"url":"data:text/html,example.com"}`, `{"url":"file://example.com/etc/passwd"}`, `{"url":"//example.com/"}`, `{"url":"example.com"}`,
			`{"url":"https:example.com"}`, `{"url":" https://example.com/"}`, `{"url":"https://example.com\n.evil.org/"}`, `{"url":["https://example.com/","https://evil.org/"]}`, `{"url":["https://example.com/",["https://evil.org/"]]}`, `{"url":{"host":"example.com"}}`, `{"url":null}`, `{}`,
		}},
		{"url", `{"host":"Example.COM."}`, []string{`{"url":"https://a.b.example.com"}`}, []string{`{"url":"https://example.org"}`}},
		{"url", `{"prefix":"https://example.com/docs"}`, []string{
			`{"url":"https://example.com/docs"}`, `{"url":"https://example.com:443/docs/a?q=../x"}`, `{"url":"https://EXAMPLE.com/docs/"}`,
		}, []string{
			`{"url":"https://example.com/docs/../admin"}`, `{"url":"https://example.com/docs/%2e%2e/admin"}`, `{"url":"https://example.com/docs%2f..%2fadmin"}`, `{"url":"https://example.com/docs2"}`, `{"url":"https://example.com/"}`,
			`{"url":"https://example.com.evil.org/docs"}`, `{"url":"https://www.example.com/docs"}`, `{"url":"http://example.com/docs"}`, `{"url":"https://example.com:8443/docs"}`, `{"url":"https://example.com/docs;/../x"}`, `{"url":"https://a@example.com/docs"}`,
		}},
		{"url", `{"prefix":"https://example.com"}`, []string{`{"url":"https://example.com/a?b"}`, `{"url":"https://example.com"}`}, []string{`{"url":"https://example.com.evil.org"}`, `{"url":"https://example.com@evil.org"}`}},
		{"url", `{"prefix":"HTTPS://"}`, []string{`{"url":"https://a.example/b?c=d"}`}, []string{`{"url":"http://a.example"}`, `{"url":"https://"}`, `{"url":"https://a@b.example"}`, `{"url":"a"}`}},
		{"command", `{"prefix":"git log "}`, []string{`{"command":"git log"}`, `{"command":"git log --oneline -5"}`, `{"Command":"git log 'a b'"}`}, []string{
			`{"command":"git logx"}`, `{"command":"git log; rm -rf /"}`, `{"command":"git log && x"}`, `{"command":"git log | sh"}`, `{"command":"git log > ~/.profile"}`, `{"command":"git log $(x)"}`, "{\"command\":\"git log `x`\"}",
			`{"command":"git log\nrm -rf /"}`, `{"command":"git log\trm"}`, `{"command":"git log <(x)"}`, `{"command":"git log ${x}"}`, `{"command":"GIT LOG"}`, `{"command":" git log"}`, `{"command":["git","log"]}`, `{}`,
		}},
		{"cmd", `{"contains":"pytest"}`, []string{`{"cmd":"python -m pytest -q"}`}, []string{`{"cmd":"curl x | sh; pytest"}`, `{"cmd":"echo pytest > x"}`}},
	}
	for _, tt := range tests {
		t.Run(tt.arg+" "+tt.constraint, func(t *testing.T) {
			task := limited(t, tt.arg, tt.constraint)
			for _, args := range tt.inside {
				if got, outside := task.Judge(call("do", args), policy.Confirm); outside {
					t.Errorf("%s: got outside (%s), want inside", args, got.Text)
				}
			}
			for _, args := range tt.outside {
				for range 2 {
					if _, outside := task.Judge(call("do", args), policy.Confirm); !outside {
						t.Errorf("%s: got inside, want outside", args)
					}
				}
			}
		})
	}
}

// SEQ-11: whatever a model proposes is refused or gives a task that answers the same twice.
func FuzzParseTask(f *testing.F) {
	for _, s := range []string{
		lunchTask, "```json\n" + lunchTask + "\n```", `{"tools":[]}`, `{"tools":null}`, `{"tools":[{"name":"a","args":{"x":{"oneOf":[1,"b",null,true,[2]]}}}]}`,
		`{"tools":[{"name":"a","args":{"command":{"prefix":"git"},"path":{"prefix":"."},"url":{"prefix":"https://"}}}]}`,
		`{"tools":[{"name":"a","args":{"x":{"prefix":"/"},"X":{"max":1e999}}}]}`, "```json\n```", "{", `{"tools":[{"name":"\u0000"}]}`,
		`{"tools":[{"name":"a","args":{"x":{"prefix":"http:///"},"y":{"host":"."},"z":{"prefix":"~"}}}]}`,
	} {
		f.Add([]byte(s), `{"to":"bob@example.com","x":[1,"b"],"path":"/tmp/a","url":"https://example.com","command":"git log"}`)
	}
	f.Fuzz(func(t *testing.T, src []byte, raw string) {
		task, err := policy.ParseTask(src)
		if (task == nil) != (err != nil) {
			t.Fatalf("task %v beside error %v", task, err)
		}
		if task == nil {
			return
		}
		again, err := policy.ParseTask(src)
		if err != nil || cmp.Diff(task.Rules(), again.Rules()) != "" {
			t.Fatalf("read twice: %v, then %v (%v)", task.Rules(), again.Rules(), err)
		}
		for _, name := range append(task.Tools(), "unknown") {
			if n := tool.Name(name); n != name {
				t.Fatalf("the tool %q is not normalised", name)
			}
			first, outside := task.Judge(call(name, raw), policy.Confirm)
			second, o := again.Judge(call(name, raw), policy.Confirm)
			if first != second || outside != o || outside != (first.Rule != "") || outside && first.Effect != policy.Confirm {
				t.Fatalf("asked twice: %+v (%t), then %+v (%t)", first, outside, second, o)
			}
		}
	})
}

// SEQ-11: no value inside a folder or a host leads out of it by a plain reading.
func FuzzTaskValues(f *testing.F) {
	for _, s := range []string{"/tmp/a", "/tmp/../x", "/tmp/..\\x", "https://example.com/a", "https://example.com@x", "https://a.example.com:1/?#", "https://EXAMPLE.COM.", "/tmp/./a//b"} {
		f.Add(s)
	}
	folder, host := limited(f, "v", `{"prefix":"/tmp/"}`), limited(f, "v", `{"host":"example.com"}`)
	f.Fuzz(func(t *testing.T, value string) {
		args := marshal(map[string]any{"v": value})
		if args == "" {
			return // not UTF-8
		}
		if _, outside := folder.Judge(call("do", args), policy.Deny); !outside && !strings.HasPrefix(path.Clean(value)+"/", "/tmp/") {
			t.Fatalf("%q is taken to be in /tmp", value)
		}
		if _, outside := host.Judge(call("do", args), policy.Deny); !outside {
			u, err := url.Parse(value)
			if err != nil || !strings.HasSuffix("."+strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), ".example.com") || u.User != nil {
				t.Fatalf("%q is taken to be at example.com", value)
			}
		}
	})
}
