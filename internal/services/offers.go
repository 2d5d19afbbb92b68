package services

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/external/headless"
	"github.com/tidemark/tidemark/internal/external/nearby"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/reports/recordsearch"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/tool"
)

// ModelOffer is a model that is in reach and could read what the owner asks for. Nothing of it is used before a yes.
type ModelOffer struct {
	Name    string   `json:"name"` // that `tidemark model use` takes
	Kind    string   `json:"kind"` // key, server or program
	Title   string   `json:"title"`
	Model   string   `json:"model"`
	Models  []string `json:"models,omitempty"` // of a server
	To      string   `json:"to"`               // who gets what leaves
	Version string   `json:"version,omitzero"`
	Fault   string   `json:"fault,omitzero"` // why it is not offered

	setting [][2]string // lines of the section, in order
	program *headless.Recipe
}

// The kinds of offers.
const (
	offerKey     = "key"
	offerServer  = "server"
	offerProgram = "program"
)

// Leaves says what leaves this machine and where to, in two lines.
func (o *ModelOffer) Leaves() [2]string {
	const what = "To know what you asked for, Tidemark would show what you type or paste to agents, and the names of your tools and " +
		"their parameters, to %s. Files, mails, pages and results are never shown."
	switch o.Kind {
	case offerProgram:
		return [2]string{
			fmt.Sprintf(what, o.Model+" at "+o.To+", through your own "+o.Title+" and its login"),
			"It counts against your plan's limits; whether your plan allows such use is between you and " + o.To + ".",
		}
	case offerServer:
		return [2]string{
			fmt.Sprintf(what, o.Model+" of the server "+o.To),
			"Nothing leaves this machine as long as that server runs its models here. Whoever listens there can say what you asked for, " +
				"so say yes only to a server of yours.",
		}
	}
	return [2]string{
		fmt.Sprintf(what, o.Model+" at "+o.To),
		"It is charged to the key in the environment: some hundred to some thousand tokens for each message.",
	}
}

// FindModels looks for models in reach: keys in the environment, servers on this machine, programs of agents. It asks nobody
// anything but the servers for their lists, and starts nothing.
func FindModels(ctx context.Context) []ModelOffer {
	var out []ModelOffer
	for _, k := range nearby.Keys(os.Getenv) {
		o := ModelOffer{Name: k.Name, Kind: offerKey, Title: k.Title, Model: k.Model, To: k.Title}
		o.setting = [][2]string{{"provider", k.Provider}, {"apiKeyEnv", k.Env}}
		if k.Base != "" {
			o.setting = append(o.setting, [2]string{"baseUrl", k.Base})
		}
		if k.Model == "" {
			o.Fault = "name a model: tidemark model use " + k.Name + " --model NAME"
		}
		out = append(out, o)
	}
	for _, s := range nearby.Find(ctx) {
		o := ModelOffer{Name: s.Name, Kind: offerServer, Title: s.Title, Model: s.Models[0], Models: s.Models}
		o.To = s.Title + " at " + s.BaseURL
		o.setting = [][2]string{{"provider", s.Provider}, {"baseUrl", s.BaseURL}}
		if s.Listener != "" {
			_, program, _ := strings.Cut(s.Listener, " ")
			o.To += " (" + program + ")"
			o.setting = append(o.setting, [2]string{"listener", s.Listener})
		}
		out = append(out, o)
	}
	if !headless.Supported {
		return out
	}
	for _, name := range headless.Names() {
		r, _ := headless.Find(name)
		if path := headless.Look(r, os.Getenv); path != "" {
			out = append(out, ModelOffer{
				Name: name, Kind: offerProgram, Title: r.Title, Model: r.Model, To: r.Provider, program: r,
				setting: [][2]string{{"provider", "program"}, {"program", name}, {"path", path}},
			})
		}
	}
	return out
}

// ModelNamed reports whether the policy file speaks of a model that reads, or of none.
func ModelNamed(p datafolder.Paths) (bool, error) {
	if p.Config == "" {
		return false, nil
	}
	src, err := load.Text(p.Config)
	if err != nil {
		return false, err
	}
	root, _ := configfile.Parse(p.Config, src)
	return root.Get("reader") != nil || root.Get("auditor") != nil, nil
}

// ProveModel tries the program of an offer on loopback, and keeps what was found. For others there is nothing to try before a yes.
func ProveModel(ctx context.Context, p datafolder.Paths, o *ModelOffer) error {
	if o.program == nil {
		return nil
	}
	proof, err := tryProgram(ctx, p, o.program, o.setting[2][1], o.Model)
	switch {
	case err != nil:
		o.Fault = err.Error()
	case !proof.Good():
		o.Fault = strings.Join(proof.Faults, "; ")
	}
	if proof != nil {
		o.Version = proof.Version
	}
	return err
}

// tryProgram tries a program and writes down what was found.
func tryProgram(ctx context.Context, p datafolder.Paths, r *headless.Recipe, path, model string) (*headless.Proof, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, errors.New("no home directory")
	}
	program, err := headless.New(headless.Options{
		Recipe: r, Path: path, Model: model, Home: home, Folder: p.ReaderFolder(), Getenv: os.Getenv,
		Children: p.ReadingPrograms(),
	})
	if err != nil {
		return nil, err
	}
	if err := p.Create(); err != nil {
		return nil, err
	}
	proof, err := program.Try(ctx, heardIn(p, time.Now()))
	if err != nil {
		return nil, err
	}
	return proof, headless.WriteProof(p.Programs(), proof)
}

// heardIn looks in the log whether a hook brought a text there. Where there is no log, no hook of ours has anywhere to bring it.
func heardIn(p datafolder.Paths, since time.Time) headless.Heard {
	return func(ctx context.Context, text string) (bool, error) {
		if p.CheckLog() != nil {
			return false, nil //nolint:nilerr // nothing is there, so nothing was heard
		}
		log, err := installation.OpenLog(ctx, p)
		if err != nil {
			return false, err
		}
		found, err := log.Newest(ctx, recordsearch.Filter{Text: text, From: since.Add(-time.Minute)}, 1)
		return len(found) > 0, errors.Join(err, log.Close())
	}
}

// section is the text of the section that has an offer read, with the model that is wanted.
func (o *ModelOffer) section(model string) string {
	lines := append([][2]string{}, o.setting...)
	lines = append(lines, [2]string{"model", cmp.Or(model, o.Model)})
	var b strings.Builder
	b.WriteString("reader: # written by tidemark model; it takes effect when the server starts\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "  %s: %s\n", l[0], quoted(l[1]))
	}
	return b.String()
}

// quoted is a text as YAML takes it, whatever it says.
func quoted(s string) string { return strconv.QuoteToASCII(s) }

// UseModel has an offer read from the next start of the server on. The policy file keeps everything else as it is.
func UseModel(p datafolder.Paths, o *ModelOffer, model string) (file string, err error) {
	return writeReader(p, o.section(model))
}

// DeclineModel has no model read, so that none is offered again.
func DeclineModel(p datafolder.Paths) (file string, err error) {
	return writeReader(p, "reader: # written by tidemark model; it takes effect when the server starts\n  provider: \"none\"\n")
}

// writeReader puts a section in the place of the one in the policy file, or behind everything. What then could not be read is
// not written.
func writeReader(p datafolder.Paths, section string) (string, error) {
	path := cmp.Or(p.Config, filepath.Join(p.Data, datafolder.PolicyName))
	src, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("write reader: %w", err)
	}
	text := replaceSection(string(src), "reader", section)
	if _, faults := config.Parse(path, []byte(text), os.LookupEnv); faults.Err() != nil {
		return "", fmt.Errorf("write reader: with it %s could not be read; put it in by hand:\n%s%w", path, section,
			&load.Error{File: path, Faults: faults, Rendered: faults.Render([]byte(text))})
	}
	if err := p.Create(); err != nil {
		return "", err
	}
	if err := datafolder.Replace(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write reader: %w", err)
	}
	return path, nil
}

// replaceSection is a YAML file with another text for one of its sections: from its key to the next line that begins a key.
func replaceSection(src, name, section string) string {
	var out []string
	inside := false
	for line := range strings.Lines(src) {
		begins := line != "" && !strings.ContainsAny(line[:1], " \t#\r\n-")
		if begins {
			inside = strings.HasPrefix(line, name+":")
		}
		if !inside {
			out = append(out, line)
		}
	}
	text := strings.TrimRight(strings.Join(out, ""), "\n")
	if text != "" {
		text += "\n\n"
	}
	return text + section
}

// ModelTrial is what a model made of a message.
type ModelTrial struct {
	Model    string          `json:"model"`
	TookMs   int64           `json:"tookMs"`
	Contract intent.Contract `json:"contract"` // of what it said, what can be kept: tools that were offered, words that were said
	Dropped  int             `json:"dropped"`  // items whose quotation does not stand in the words
}

// ErrNoReader says that there is no model to ask.
var ErrNoReader = errors.New("no model reads: tidemark model lists what is in reach")

// Trying is what a model is tried with.
type Trying struct {
	Words  string
	Tools  []intent.Signature
	Record string // a file that the answer is added to; "": none
}

// TryModel has the words read by the model of the policy file, or by an offer instead, and says what came of it. It is one real
// request; nothing is recorded in the log.
func TryModel(ctx context.Context, p datafolder.Paths, o *ModelOffer, q Trying) (*ModelTrial, error) {
	cfg, err := trialConfig(p, o)
	if err != nil {
		return nil, err
	}
	words, tools := q.Words, q.Tools
	cfg.Auditor.Record, cfg.Auditor.Contracts, cfg.Auditor.ContractWait = q.Record, true, trialWait
	files := Files{Programs: p.Programs(), Folder: p.ReaderFolder(), Children: p.ReadingPrograms()}
	out, err := Open(cfg, files, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close(context.Background()) }() //nolint:contextcheck // it ends what is open
	if out.Auditor == nil {
		if out.Settings.Missing != "" {
			return nil, errors.New(out.Settings.Missing)
		}
		return nil, ErrNoReader
	}
	start := time.Now()
	c, name, err := out.Auditor.Contract(ctx, "try", intent.Request{Words: []intent.Word{{Turn: 1, Text: words}}, Tools: tools}, true)
	if err != nil {
		return nil, err
	}
	t := &ModelTrial{Model: name, TookMs: time.Since(start).Milliseconds(), Contract: c}
	t.Contract.Items = nil
	for _, i := range c.Items { // each alone: an item that is left out has no trace in what is kept
		m := mandate.Mandate{Items: []mandate.Item{{Tool: i.Tool, Quote: i.Quote, Except: i.Except}}}
		if len(m.Within([]string{words}).Items) == 0 {
			t.Dropped++
			continue
		}
		i.Args = slices.DeleteFunc(slices.Clone(i.Args), func(a intent.Arg) bool { return !saidIn(&a, i.Quote, words) })
		t.Contract.Items = append(t.Contract.Items, i)
	}
	return t, nil
}

// saidIn reports whether an argument of an item is kept beside the words.
func saidIn(a *intent.Arg, quote, words string) bool {
	source := mandate.Source{How: mandate.HowNamed(a.How), What: a.What, Of: a.Of}
	m := mandate.Mandate{Items: []mandate.Item{{Quote: quote, Args: map[string][]mandate.Source{a.Arg: {source}}}}}
	kept := m.Within([]string{words}).Items
	return len(kept) == 1 && len(kept[0].Args[a.Arg]) > 0
}

// trialWait is how long a trial waits.
const trialWait = time.Minute

func trialConfig(p datafolder.Paths, o *ModelOffer) (*config.Config, error) {
	if o == nil {
		cfg, _, err := load.Read(p.Config)
		return cfg, err
	}
	cfg, faults := config.Parse("reader", []byte(o.section(o.Model)), os.LookupEnv)
	if faults.Err() != nil {
		return nil, faults.Err()
	}
	return cfg, nil
}

// Signatures are definitions as a contract is drawn from them, without what they say of themselves.
func Signatures(list []tool.Definition) []intent.Signature {
	out := make([]intent.Signature, len(list))
	for i, d := range list {
		out[i] = intent.SignatureOf(d.Name, d.Schema)
	}
	return out
}
