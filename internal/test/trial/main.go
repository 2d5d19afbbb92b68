// Command evalwar is a scratch harness.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

type def struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	} `json:"annotations"`
}

type trace struct {
	ID     string `json:"id"`
	Tools  []def  `json:"tools"`
	Events []struct {
		User     *string         `json:"user"`
		Contract json.RawMessage `json:"contract"`
		Call     *struct {
			Tool string          `json:"tool"`
			Args json.RawMessage `json:"args"`
		} `json:"call"`
		Result any    `json:"result"`
		Answer string `json:"answer"`
	} `json:"events"`
}

type out struct {
	ID, Decision, Rule, Reason, Shown, Taint string
	Step                                     int
}

func run(line []byte) []byte {
	var t trace
	if err := json.Unmarshal(line, &t); err != nil {
		panic(err)
	}
	c := warrant.New()
	var defs []tool.Definition
	for _, d := range t.Tools {
		s := d.Parameters
		if s == nil {
			s = d.InputSchema
		}
		defs = append(defs, tool.Definition{Name: d.Name, Description: d.Description, Schema: s, ReadOnly: d.Annotations.ReadOnly, Destructive: d.Annotations.Destructive, OpenWorld: d.Annotations.OpenWorld})
	}
	c.Tools(defs)
	var b strings.Builder
	step := 0
	for _, e := range t.Events {
		if e.User != nil {
			c.User(*e.User)
			if len(e.Contract) > 0 {
				var k warrant.Contract
				var raw struct {
					Acts []struct {
						Tool string
						Args map[string]any
						Most int
					}
					Opens string
				}
				if json.Unmarshal(e.Contract, &raw) == nil {
					k.Opens = raw.Opens
					for _, a := range raw.Acts {
						m := map[string]string{}
						for n, v := range a.Args {
							m[n] = fmt.Sprint(v)
						}
						k.Acts = append(k.Acts, struct {
							Tool string            `json:"tool"`
							Args map[string]string `json:"args"`
							Most int               `json:"most"`
						}{a.Tool, m, a.Most})
					}
					c.Contract(&k)
				}
			}
		}
		if e.Call == nil {
			continue
		}
		raw := e.Call.Args
		args := tool.NewArgs(raw)
		w := c.Of(e.Call.Tool, &args)
		d := map[string]any{"id": t.ID, "step": step, "decision": "allow", "rule": "", "reason": "", "shown": "", "taint": ""}
		if lacks := w.Lacks(warrant.Balanced[w.Deed]); len(lacks) > 0 {
			d["decision"] = "ask"
			d["rule"] = w.Deed + "." + lacks[0].Kind.String()
			d["reason"] = lacks[0].Why + " | " + lacks[0].Value
			var v any
			_ = json.Unmarshal(raw, &v)
			d["shown"] = string(raw) + " " + flat(v)
		}
		x, _ := json.Marshal(d)
		b.Write(x)
		b.WriteByte('\n')
		step++
		if d["decision"] == "allow" || e.Answer == "approve" {
			s, ok := e.Result.(string)
			if !ok && e.Result != nil {
				r, _ := json.Marshal(e.Result)
				s = string(r)
			}
			c.Result(warrant.Result{Tool: e.Call.Tool, Step: uint64(step), Args: &args, Content: s})
		}
	}
	return []byte(b.String())
}

func flat(v any) string {
	switch v := v.(type) {
	case string:
		return v + " "
	case []any:
		s := ""
		for _, e := range v {
			s += flat(e)
		}
		return s
	case map[string]any:
		s := ""
		for _, e := range v {
			s += flat(e)
		}
		return s
	}
	return fmt.Sprint(v) + " "
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	lines := make(chan []byte, 16)
	var mu sync.Mutex
	w := bufio.NewWriter(os.Stdout)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for l := range lines {
				o := run(l)
				mu.Lock()
				w.Write(o)
				mu.Unlock()
			}
		}()
	}
	for {
		l, err := in.ReadBytes('\n')
		if len(strings.TrimSpace(string(l))) > 0 {
			lines <- l
		}
		if err != nil {
			break
		}
	}
	close(lines)
	wg.Wait()
	w.Flush()
}
