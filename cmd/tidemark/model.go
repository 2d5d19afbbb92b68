package main

import (
	"bytes"
	"context"
	_ "embed" // the tools of a trial are part of the program
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/services"
	"github.com/tidemark/tidemark/tool"
)

// modelTools are the tools of a trial where nobody names others.
//
//go:embed modeltools.json
var modelTools []byte

func (e *env) modelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Show which model reads your messages, and which could",
		Long: `Show which model reads your messages, how often it was asked and what that cost, and which models are in reach:
keys in the environment, servers on this machine, programs of agents. Nothing is asked and nothing leaves.

A model that reads makes Tidemark ask you less. It sees what you type or paste to agents and the names of tools, never
what was read: docs/model.md.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.showModel(cmd.Context()) },
	}
	cmd.AddCommand(e.modelTryCommand(), e.modelUseCommand(), &cobra.Command{
		Use: "off", Short: "Stop having a model read your messages, and be offered none", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.declineModel() },
	})
	return cmd
}

// modelFigures are what a running server tells of its model.
type modelFigures struct {
	Contracts uint64 `json:"contracts"`
	Late      uint64 `json:"late"`
	Undrawn   uint64 `json:"undrawn"`
	Requests  uint64 `json:"requests"`
	TokensIn  uint64 `json:"tokensIn"`
	TokensOut uint64 `json:"tokensOut"`
	LastHour  int    `json:"lastHour"`
	LastDay   int    `json:"lastDay"`
	PerHour   int    `json:"perHour"`
	PerDay    int    `json:"perDay"`
}

func (e *env) showModel(ctx context.Context) error {
	s, at, err := e.serverStatus(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Parts, func(p services.Part) bool { return p.Name == "reader" || p.Name == "auditor" })
	offers := services.FindModels(ctx)
	if e.json {
		out := map[string]any{"reader": nil, "offers": offers}
		if i >= 0 {
			out["reader"] = s.Parts[i]
		}
		if lent := lentParts(s.Parts); len(lent) > 0 {
			out["lent"] = lent
		}
		return e.printJSON(out)
	}
	lent := lentParts(s.Parts)
	if i < 0 && len(lent) == 0 {
		e.printf("%s no model reads your messages: Tidemark asks you more than it has to\n", e.ui.word("title", "reader: none."))
	} else if i >= 0 {
		e.printParts(s.Parts[i : i+1])
		e.printFigures(s.Parts[i].Figures, at)
	}
	e.printParts(lent)
	e.printOffers(offers)
	return nil
}

// lentParts are the models that are not the server's own: those of agents' programs, and clients' upstreams.
func lentParts(parts []services.Part) []services.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p services.Part) bool { return !strings.HasPrefix(p.Name, "reader: ") })
}

// printFigures says what it cost, and how often it was there in time.
func (e *env) printFigures(figures any, at string) {
	var f modelFigures
	raw, err := strictjson.Marshal(figures)
	if at == "" || err != nil || strictjson.Unmarshal(raw, &f) != nil {
		return
	}
	e.printf("  requests: %d in the last hour%s, %d in the last day%s; tokens since the start: %d in, %d out\n",
		f.LastHour, bound(f.PerHour), f.LastDay, bound(f.PerDay), f.TokensIn, f.TokensOut)
	if f.Contracts > 0 {
		read := f.Contracts - f.Late - f.Undrawn
		e.printf("  messages: %d wanted by calls, %d%% there in time (%d late, %d not read)\n",
			f.Contracts, 100*read/f.Contracts, f.Late, f.Undrawn)
	}
}

func bound(most int) string {
	if most == 0 {
		return ""
	}
	return fmt.Sprintf(" of %d", most)
}

func (e *env) printOffers(offers []services.ModelOffer) {
	if len(offers) == 0 {
		e.printf("in reach: nothing (a key of a service in the environment, a server such as Ollama, the program of an agent would be)\n")
		return
	}
	e.printf("in reach (tidemark model use NAME; it says what leaves, and asks):\n")
	for i := range offers {
		o := &offers[i]
		e.printf("  %-10s %s: %s %s\n", o.Name, o.Title, o.Model, e.ui.word("faint", "("+o.Kind+", to "+o.To+")"))
	}
}

func (e *env) modelUseCommand() *cobra.Command {
	var model string
	var yes bool
	cmd := &cobra.Command{
		Use:   "use NAME",
		Short: "Have one of the models found read your messages",
		Long: `Try a model that is in reach, say what would leave this machine and where to, ask, make one real request, and write the
setting into the policy file. The program of an agent is first pointed at a scripted model on this machine, with an invented
key, and everything that it sends is looked at: what sends more than it is given is not used.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.useModel(cmd.Context(), args[0], model, yes) },
	}
	cmd.Flags().StringVar(&model, "model", "", "another model of the same provider, server or program")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask: you agree to what is sent")
	return cmd
}

func (e *env) useModel(ctx context.Context, name, model string, yes bool) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	offers := services.FindModels(ctx)
	i := slices.IndexFunc(offers, func(o services.ModelOffer) bool { return o.Name == name })
	if i < 0 {
		return fmt.Errorf("model: %q is not in reach (tidemark model lists what is)", name)
	}
	o := &offers[i]
	if model != "" {
		o.Model = model
		o.Fault = ""
	}
	return e.adoptModel(ctx, p, o, yes)
}

// adoptModel tries an offer where nothing leaves, asks, makes one real request, and writes it down: in this order.
func (e *env) adoptModel(ctx context.Context, p datafolder.Paths, o *services.ModelOffer, yes bool) error {
	if o.Kind == "program" && o.Version == "" {
		e.printf("trying %s on a scripted model of this machine …\n", o.Title)
		if err := services.ProveModel(ctx, p, o); err != nil && o.Fault == "" {
			return err
		}
	}
	if o.Fault != "" {
		return fmt.Errorf("model: %s cannot be used: %s", o.Title, o.Fault)
	}
	says := o.Leaves()
	e.printf("%s\n%s\n", says[0], says[1])
	if !yes {
		var err error
		if yes, err = e.agrees(ctx); err != nil {
			return err
		}
	}
	if !yes {
		e.printf("no model reads; tidemark model use %s asks again\n", o.Name)
		return nil
	}
	t, err := services.TryModel(ctx, p, o, services.Trying{Words: "Remind me to water the plants", Tools: e.trialTools()})
	if err != nil {
		return fmt.Errorf("model: one real request failed, so nothing was written: %w", err)
	}
	file, err := services.UseModel(p, o, o.Model)
	if err != nil {
		return err
	}
	e.printf("%s %s answered in %.1f s; written into %s. It counts when the server starts again; off: tidemark model off\n",
		e.ui.word("good", "ready:"), t.Model, float64(t.TookMs)/1000, file)
	return nil
}

// asksHere reports whether somebody can be asked: at a terminal, or in a test that answers.
func (e *env) asksHere() bool {
	f, ok := e.in.(*os.File)
	return !ok && e.in != nil || ok && term.IsTerminal(int(f.Fd()))
}

// agrees asks a person at a terminal. Nobody there is no.
func (e *env) agrees(ctx context.Context) (bool, error) {
	if e.asksHere() {
		e.printf("Use it? [y/N] ")
	}
	return e.saysYes(ctx)
}

// saysYes is agrees where the question has been put.
func (e *env) saysYes(ctx context.Context) (bool, error) {
	if !e.asksHere() {
		return false, nil
	}
	line, err := e.line(ctx, 16)
	return strings.EqualFold(line, "y") || strings.EqualFold(line, "yes"), err
}

func (e *env) declineModel() error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	file, err := services.DeclineModel(p)
	if err == nil {
		e.printf("no model reads from the next start of the server on (%s)\n", file)
	}
	return err
}

func (e *env) modelTryCommand() *cobra.Command {
	var tools, record string
	cmd := &cobra.Command{
		Use:   "try WORDS",
		Short: "What the model understands of a message: the items it would give",
		Long: `Have the model of the policy file read a message, and print what Tidemark would take from it: one real request, of
which nothing is recorded in the log. WORDS of - are read from standard input, where no other program sees them. The tools
are a few ordinary ones, or those of a list of definitions (as tidemark tools annotate takes it).`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.tryModel(cmd.Context(), args[0], tools, record)
		},
	}
	cmd.Flags().StringVar(&tools, "tools", "", "file of tool definitions")
	cmd.Flags().StringVar(&record, "record", "", "add the answer to this file, for the provider recorded")
	return cmd
}

// maxTried bounds a message that is tried.
const maxTried = 64 << 10

func (e *env) tryModel(ctx context.Context, words, tools, record string) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	if words == "-" {
		var b bytes.Buffer
		if _, err := b.ReadFrom(e.stdin(ctx)); err != nil || b.Len() > maxTried {
			return errors.New("model try: the words could not be read, or there are too many")
		}
		words = strings.TrimSpace(b.String())
	}
	offered := e.trialTools()
	if tools != "" {
		list, err := e.readTools(ctx, tools)
		if err != nil {
			return fmt.Errorf("model try: %w", err)
		}
		offered = services.Signatures(list)
	}
	t, err := services.TryModel(ctx, p, nil, services.Trying{Words: words, Tools: offered, Record: record})
	if err != nil {
		return fmt.Errorf("model try: %w", err)
	}
	if e.json {
		return e.printJSON(t)
	}
	e.printUnderstood(t)
	return nil
}

// trialTools are ordinary tools.
func (e *env) trialTools() []intent.Signature {
	var raws []strictjson.Value
	if err := strictjson.Unmarshal(modelTools, &raws); err != nil {
		return nil // a test reads them
	}
	var list []tool.Definition
	for _, raw := range raws {
		if d, err := definition(raw); err == nil {
			list = append(list, d)
		}
	}
	return services.Signatures(list)
}

// printUnderstood prints what a model understood, a line for each item and each of its arguments.
func (e *env) printUnderstood(t *services.ModelTrial) {
	c := &t.Contract
	e.printf("%s %s, %.1f s\n", e.ui.word("title", "read by"), t.Model, float64(t.TookMs)/1000)
	for _, i := range c.Items {
		times := "once"
		switch {
		case i.Per != "":
			times = "for each of " + strconv.Quote(i.Per)
		case i.Times > 1:
			times = fmt.Sprintf("up to %d times", i.Times)
		}
		e.printf("  %s %s, %s: %q\n", e.ui.word("good", i.Tool), i.Need, times, i.Quote)
		if i.If != "" {
			e.printf("      only %q\n", i.If)
		}
		for _, x := range i.Except {
			e.printf("      but not %q\n", x)
		}
		if i.Or != "" {
			e.printf("      one of the choices %s, not all of them\n", i.Or)
		}
		for _, a := range i.Args {
			e.printf("      %s: %s\n", a.Arg, sourceOf(&a))
		}
	}
	for _, r := range c.Reads {
		e.printf("  to be opened: %q\n", r.What)
	}
	for _, f := range c.Follow {
		limit := ""
		if f.Limit != "" {
			limit = fmt.Sprintf(", %q", f.Limit)
		}
		e.printf("  to be followed: %q%s\n", f.Source, limit)
	}
	for _, b := range c.Never {
		when := "never"
		if b.First {
			when = "shown first:"
		}
		e.printf("  %s %s %s\n", e.ui.word("bad", when), b.Act, b.What)
	}
	switch {
	case t.Dropped > 0:
		e.printf("%d more were left out: their quotes are not in the message\n", t.Dropped)
	case len(c.Items) == 0:
		e.printf("  no item: every act would be asked about\n")
	}
}

// sourceOf is where a value may come from, in words.
func sourceOf(a *intent.Arg) string {
	said := map[string]string{
		"said": "as said", "most": "at most", "person": "the person", "from": "taken from", "calc": "worked out from", "own": "your own",
		"write": "worded by the agent", "command": "the command", "thing": "the thing", "made": "made by an earlier act",
		"choose": "left to the agent, of what is listed",
	}[a.How]
	for _, w := range a.What {
		said += " " + strconv.Quote(w)
	}
	if a.Of != "" && a.How != "from" {
		said += ", by"
	}
	if a.Of != "" {
		said += " " + strconv.Quote(a.Of)
	}
	if len(a.Is) > 0 {
		said += ": " + strings.Join(a.Is, " or ")
	}
	return said
}
