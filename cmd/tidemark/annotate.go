package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/services"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

func (e *env) annotateCommand() *cobra.Command {
	var explain, model bool
	cmd := &cobra.Command{
		Use:   "annotate [FILE|-]",
		Short: "Say what tools are, from their definitions, for review",
		Long: `Read a list of tool definitions, as OpenAI, Anthropic or MCP (tools/list) write them, and
print what was understood of each: source, sink, sensitive, and what its parameters are
for. The output is the annotations section of a policy file, for a person to read and to
paste. Nothing is applied.

What the configured model has read in a definition is shown too, where it makes a tool
graver; --model asks it about the others. Only a person makes a tool milder.`,
		Example: `  tidemark tools annotate tools.json
  tidemark tools annotate --explain tools.json
  curl -s https://mcp.example/tools | tidemark tools annotate -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			defs, err := e.readTools(cmd.Context(), name)
			if err == nil {
				err = e.readings(cmd.Context(), defs, model)
			}
			if err != nil {
				return fmt.Errorf("annotate: %w", err)
			}
			list := make([]*toolinfo.Meaning, len(defs))
			for i, d := range defs {
				list[i] = toolinfo.Of(d)
			}
			return e.annotate(list, explain)
		},
	}
	cmd.Flags().BoolVar(&model, "model", false, "have the auditor's model read definitions that it has not read yet")
	cmd.Flags().BoolVar(&explain, "explain", false, "print a table for people: every tool and parameter, and why")
	return cmd
}

// readings adds what a model has read in the definitions.
func (e *env) readings(ctx context.Context, defs []tool.Definition, ask bool) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	return services.Readings(ctx, p, defs, ask)
}

func (e *env) annotate(list []*toolinfo.Meaning, explain bool) error {
	switch {
	case e.json:
		return e.printJSON(map[string]any{"tools": list})
	case explain:
		return e.explainTools(list)
	}
	_, err := e.out.Write(toolinfo.YAML(list))
	return err
}

func (e *env) explainTools(list []*toolinfo.Meaning) error {
	gravities := map[toolinfo.Gravity]string{toolinfo.High: "bad", toolinfo.Low: "warn", toolinfo.None: "good"}
	var rows [][]cell
	for _, m := range list {
		rows = append(rows, []cell{
			{"title", report.Line(m.Tool)}, {"", m.Act.String()}, {gravities[m.Gravity], m.Gravity.String()},
			{"", factsOf(m)}, {"dim", report.Line(m.Why)},
		})
		for _, p := range m.Params {
			rows = append(rows, []cell{
				{"", "  " + report.Line(p.Path)}, {"", p.Role.String()}, {"", p.Kind.String()},
				{"", ""}, {"dim", report.Line(p.Why)},
			})
		}
	}
	return e.ui.table(e.out, []string{"TOOL, parameter", "ACT, role", "GRAVITY, kind", "IS", "WHY"}, rows)
}

func factsOf(m *toolinfo.Meaning) string {
	var out []string
	for _, f := range []struct {
		is   bool
		word string
	}{{m.Source, "source"}, {m.Sink, "sink"}, {m.Sensitive, "sensitive"}, {m.Reaches, "reaches"}} {
		if f.is {
			out = append(out, f.word)
		}
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, ", ")
}

// maxToolList bounds what is read: real lists are a few hundred kilobytes.
const maxToolList = 16 << 20

// readTools reads a list of definitions.
func (e *env) readTools(ctx context.Context, name string) ([]tool.Definition, error) {
	in, shown := e.stdin(ctx), "stdin"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in, shown = f, name
	}
	src, err := io.ReadAll(io.LimitReader(in, maxToolList+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	if len(src) > maxToolList {
		return nil, fmt.Errorf("%s: more than %d MiB", shown, maxToolList>>20)
	}
	raws, more, err := toolList(src)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", shown, syntaxPlace(src), err)
	}
	if more {
		fmt.Fprintf(e.errOut, "tidemark: %s: this is one page of the list: nextCursor is set\n", shown)
	}
	list := make([]tool.Definition, 0, len(raws))
	for i, raw := range raws {
		d, err := definition(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: tool %d of %d: %w", shown, i+1, len(raws), err)
		}
		list = append(list, d)
	}
	return list, nil
}

// errNoTools is a file that is JSON, and something else.
var errNoTools = errors.New(`not a list of tools: want [...], {"tools": [...]} or {"result": {"tools": [...]}}`)

// toolList finds the definitions: a bare list, a body with tools, or the answer to
// tools/list. more says that the list goes on elsewhere.
func toolList(src []byte) (list []strictjson.Value, more bool, err error) {
	type page struct {
		Tools strictjson.Value `json:"tools"`
		Next  string           `json:"nextCursor"`
	}
	var raw strictjson.Value
	if err := strictjson.Unmarshal(src, &raw); err != nil {
		return nil, false, err
	}
	if raw.Kind() == '{' {
		var body struct {
			page
			Result *page `json:"result"`
		}
		if err := strictjson.Unmarshal(raw, &body); err != nil {
			return nil, false, err
		}
		p := body.page
		if body.Result != nil {
			p = *body.Result
		}
		raw, more = p.Tools, p.Next != ""
	}
	if raw.Kind() != '[' {
		return nil, false, errNoTools
	}
	err = strictjson.Unmarshal(raw, &list)
	return list, more, err
}

// definition reads one tool in any of the spellings.
func definition(raw strictjson.Value) (tool.Definition, error) {
	t, err := hook.NewTool(raw)
	if err != nil {
		return tool.Definition{}, err
	}
	out := tool.Definition{Name: t.Name()}
	if raw.Kind() != '{' {
		return out, nil // the bare name
	}
	type body struct {
		Description string           `json:"description"`
		Parameters  strictjson.Value `json:"parameters"`
		Input       strictjson.Value `json:"input_schema"`
		InputSchema strictjson.Value `json:"inputSchema"`
	}
	var d struct {
		body
		Function    *body `json:"function"`
		Annotations struct {
			ReadOnly    *bool `json:"readOnlyHint"`
			Destructive *bool `json:"destructiveHint"`
			OpenWorld   *bool `json:"openWorldHint"`
		} `json:"annotations"`
	}
	if err := strictjson.Unmarshal(raw, &d); err != nil {
		return out, err
	}
	b := d.body
	if d.Function != nil {
		b = *d.Function
	}
	out.Description = b.Description
	out.ReadOnly, out.Destructive, out.OpenWorld = d.Annotations.ReadOnly, d.Annotations.Destructive, d.Annotations.OpenWorld
	for _, s := range []strictjson.Value{b.Parameters, b.Input, b.InputSchema} {
		switch s.Kind() {
		case '{':
			out.Schema = s
		case 'n', jsontext.KindInvalid: // null, or not there
		default:
			return out, fmt.Errorf("%q: its parameters are no JSON Schema object", t.Name())
		}
	}
	return out, nil
}

// syntaxPlace is :line:column where the text stops being JSON, or nothing.
func syntaxPlace(src []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(src))
	for {
		_, err := d.ReadToken()
		var bad *jsontext.SyntacticError
		switch {
		case errors.As(err, &bad):
			before := src[:min(int(bad.ByteOffset), len(src))]
			line := bytes.Count(before, []byte("\n"))
			return fmt.Sprintf(":%d:%d", line+1, len(before)-bytes.LastIndexByte(before, '\n'))
		case err != nil: // the end
			return ""
		}
	}
}
