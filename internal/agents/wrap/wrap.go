// Package wrap puts the MCP servers in the settings of agents behind Tidemark, and takes them
// out again. A server that the agent starts is started by "tidemark mcp"; one that it reaches
// over HTTP is reached through the gateway, which then knows its address and headers.
//
// Invariants:
//   - only the entries of servers change; taking them out again gives every byte back;
//   - an entry that somebody changed since stays as it is, and is named;
//   - an entry that is not understood stays as it is, and is named with why;
//   - a token never gets into a file of a project, which others read.
//
// It reads settings files; they are written by the plan it returns.
package wrap

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/mcp/upstreams"
)

// Options say what entries are rewritten to.
type Options struct {
	Program string // path of tidemark
	Data    string // its data folder, where it is not the usual one; "": it is
	// Gateway is the address of the server: http://127.0.0.1:8417; "": it is on another machine, and nothing reached over HTTP is wrapped.
	Gateway string
	Token   string // of agents; "": nothing that is reached over HTTP is wrapped
	// Taken are the names of the servers in tidemark.yaml: what the owner wrote there counts, so that no other server gets
	// such a name, and its agent another server than it had.
	Taken []string
}

// Server is one entry of an agent's settings.
type Server struct {
	Name    string `json:"name"`           // as the agent calls it
	File    string `json:"file"`           // where it stands
	Scope   string `json:"scope,omitzero"` // the folder it is for; "": all
	Behind  bool   `json:"behind"`         // it is behind Tidemark already
	Lost    bool   `json:"lost,omitzero"`  // it was, and somebody changed that
	As      string `json:"as"`             // what Tidemark calls it
	Why     string `json:"why,omitzero"`
	Command string `json:"command,omitzero"` // its command or address, for people
	// Package is set where it is a server that is known to bring nothing from elsewhere, in the user's own settings.
	Package string `json:"package,omitzero"`
	// Relay is how the agent starts what stands before the server, up to the server's own command; nil: it does not, or
	// it was not put there by Wrap: what calls itself tidemark in a repository's file may be anything.
	Relay []string `json:"-"`
}

// record is what was rewritten, kept in the data folder.
type record struct {
	Client  string    `json:"client"`
	Project string    `json:"project,omitzero"`
	Time    time.Time `json:"time"`
	Entries []written `json:"entries"`
}

// written is one entry before and after.
type written struct {
	File     string   `json:"file"`
	Where    []string `json:"where"`
	Old      string   `json:"old"`
	New      string   `json:"new"`
	Upstream string   `json:"upstream,omitzero"` // what the gateway calls it
}

// is reports whether an entry of a file is meant.
func (w written) is(file string, where []string) bool {
	return w.File == file && slices.Equal(w.Where, where)
}

// Names lists the agents whose servers can be wrapped.
func Names() []string {
	var out []string
	for _, c := range clients() {
		out = append(out, c.name)
	}
	return out
}

func find(name string) (*client, error) {
	all := clients()
	for i := range all {
		if all[i].name == name {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("unknown agent %q (want one of %s)", name, strings.Join(Names(), ", "))
}

func recordName(client string) string { return "mcp-" + client }

func recall(w install.World, client string) (*record, error) {
	raw, err := w.Record(recordName(client))
	if err != nil || raw == nil {
		return &record{Client: client, Project: w.Project}, err
	}
	r := &record{}
	if err := strictjson.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("read record of what was wrapped: %w", err)
	}
	return r, nil
}

// bytes is the record as it is kept; nil where nothing is in it.
func (r *record) bytes() ([]byte, error) {
	if len(r.Entries) == 0 {
		return nil, nil
	}
	raw, err := strictjson.MarshalIndent(r)
	if err != nil {
		return nil, fmt.Errorf("write record of what was wrapped: %w", err)
	}
	return append(raw, '\n'), nil
}

// opened is a settings file and the entries in it.
type opened struct {
	place
	path    string
	src     []byte
	entries []entry
}

// entry is where a server stands in a file.
type entry struct {
	server
	where      []string
	start, end int
	behind     bool // it leads through Tidemark already
	ours       bool // by what is on our record
}

// open reads every file of an agent that is there.
func (c *client) open(w install.World, rec *record) ([]opened, error) {
	var out []opened
	for _, p := range c.places(w) {
		src, err := w.Read(p.path)
		if err != nil {
			return nil, err
		}
		if src == nil || settings.IsBlank(src) {
			continue
		}
		f := opened{place: p, path: p.path, src: src}
		if filepath.Ext(p.path) == ".toml" {
			f.entries, err = c.tables(src)
		} else {
			f.entries, err = c.objects(src, p)
		}
		if bad := new(settings.Fault); errors.As(err, &bad) {
			return nil, install.Refuse(p.path, src, bad.At, bad.Message)
		}
		if err != nil {
			return nil, err
		}
		for i := range f.entries {
			e := &f.entries[i]
			e.ours = rec.knows(f.path, e, src[e.start:e.end])
			e.behind = e.ours || e.started()
		}
		out = append(out, f)
	}
	return out, nil
}

// knows reports whether an entry is as it was written, or has at least the address of the gateway
// that was written into it.
func (r *record) knows(file string, e *entry, raw []byte) bool {
	return slices.ContainsFunc(r.Entries, func(w written) bool {
		return w.is(file, e.where) && (w.still(raw) || w.Upstream != "" && e.url != "" && strings.Contains(w.New, quoted(e.url)))
	})
}

// still reports whether an entry is as it was written, be it in another layout.
func (w written) still(raw []byte) bool {
	return string(raw) == w.New || settings.Same(raw, []byte(w.New))
}

// Look names the servers of an agent and says which are behind Tidemark.
func Look(w install.World, client string) ([]Server, error) {
	c, err := find(client)
	if err != nil {
		return nil, err
	}
	rec, err := recall(w, client)
	if err != nil {
		return nil, err
	}
	files, err := c.open(w, rec)
	if err != nil {
		return nil, err
	}
	var out []Server
	for _, f := range files {
		for _, e := range f.entries {
			v := e.view(f)
			v.Lost = !v.Behind && slices.ContainsFunc(rec.Entries, func(w written) bool { return w.is(f.path, e.where) })
			out = append(out, v)
		}
	}
	return out, nil
}

func (e *entry) view(f opened) Server {
	s := Server{Name: e.where[len(e.where)-1], File: f.path, Scope: f.scope(e.where), Behind: e.behind, Why: e.why}
	if e.behind {
		s.Why = ""
	}
	s.As = nameOf(s.Name)
	if s.Command = e.url; e.url == "" && len(e.argv) > 0 {
		s.Command = e.argv[0]
	}
	if i := slices.Index(e.argv, "--"); e.ours && i > 0 {
		s.Relay = slices.Clone(e.argv[:i+1])
	}
	return s
}

// Prepare plans putting every server of an agent behind Tidemark, and says of each what becomes
// of it.
func Prepare(w install.World, client string, o Options, now time.Time) (*install.Plan, []Server, error) {
	j, files, err := begin(w, client)
	if err != nil {
		return nil, nil, err
	}
	j.opts, j.project = o, w.Project != ""
	var changed []install.Rewritten
	for _, f := range files {
		if next := j.file(f); next != nil {
			changed = append(changed, install.Rewritten{Path: f.path, Old: f.src, New: next})
		}
	}
	if len(changed) > 0 {
		j.rec.Time = now.UTC()
	}
	p, err := j.plan(w, changed)
	return p, j.seen, err
}

// plan adds the file of the gateway's servers, and the record.
func (j *job) plan(w install.World, changed []install.Rewritten) (*install.Plan, error) {
	was, err := w.Read(upstreams.Path(w.Data))
	if err != nil {
		return nil, err
	}
	next, err := j.known.Bytes()
	if err != nil {
		return nil, err
	}
	if string(was) != string(next) {
		changed = append(changed, install.Rewritten{Path: upstreams.Path(w.Data), Old: was, New: next})
	}
	raw, err := j.rec.bytes()
	if err != nil {
		return nil, err
	}
	return install.Rewrite(w, recordName(j.client.name), j.client.title, changed, raw)
}

// job is the wrapping of one agent's servers.
type job struct {
	client  *client
	opts    Options
	known   upstreams.File
	rec     *record
	project bool
	seen    []Server
	stays   []written // entries that were changed by hand, and are left as they are
}

// begin reads everything there is of an agent.
func begin(w install.World, client string) (*job, []opened, error) {
	c, err := find(client)
	if err != nil {
		return nil, nil, err
	}
	j := &job{client: c}
	if j.known, err = upstreams.Read(w.Data); err != nil {
		return nil, nil, err
	}
	if j.rec, err = recall(w, client); err != nil {
		return nil, nil, err
	}
	files, err := c.open(w, j.rec)
	return j, files, err
}

// file is the new text of a file; nil where nothing in it changes.
func (j *job) file(f opened) []byte {
	out, at := []byte(nil), 0
	for _, e := range f.entries {
		v := e.view(f)
		if v.Behind || v.Why != "" {
			j.seen = append(j.seen, v)
			continue
		}
		next, upstream, why := j.rewrite(&e, f)
		if v.Why = why; why == "" {
			v.Behind = true
			if v.Scope == "" && !j.project {
				v.Package = e.ofMachine()
			}
			out = append(append(out, f.src[at:e.start]...), next...)
			at = e.end
			j.remember(written{File: f.path, Where: e.where, Old: string(f.src[e.start:e.end]), New: next, Upstream: upstream})
		}
		if upstream != "" {
			v.As = upstream
		}
		j.seen = append(j.seen, v)
	}
	if at == 0 {
		return nil
	}
	return append(out, f.src[at:]...)
}

func (j *job) remember(w written) {
	j.rec.Entries = slices.DeleteFunc(j.rec.Entries, func(o written) bool { return o.is(w.File, w.Where) })
	j.rec.Entries = append(j.rec.Entries, w)
}

// rewrite is an entry that leads through Tidemark, or why there is none.
func (j *job) rewrite(e *entry, f opened) (next, upstream, why string) {
	name := nameOf(e.where[len(e.where)-1])
	if e.url == "" {
		argv := []string{"mcp", "--name", name}
		if j.opts.Data != "" {
			argv = append(argv, "--data", j.opts.Data)
		}
		for _, v := range e.env {
			argv = append(argv, "--env", v)
		}
		argv = append(append(argv, "--"), e.argv...)
		return e.launch(f.src, j.opts.Program, argv), "", ""
	}
	switch {
	case j.opts.Gateway == "":
		return "", "", "it is reached over HTTP, and the Tidemark server is on another machine: name it in mcp.servers there, " +
			"and write that server's address here"
	case strings.HasPrefix(e.url, j.opts.Gateway+"/mcp/"):
		return "", "", "it leads to Tidemark already, but is not on record: write the server's own address back by hand"
	case j.project:
		return "", "", "it is reached over HTTP and stands in a file that others read, which must not hold a token: " +
			"move it to your own settings, and wrap those"
	case j.opts.Token == "":
		return "", "", "the gateway has no token yet: start the server once (tidemark serve)"
	}
	s := upstreams.Server{URL: e.url, Auth: "oauth", Headers: e.headers}
	for k := range e.headers {
		if strings.EqualFold(k, "Authorization") {
			s.Auth = "none"
		}
	}
	if _, err := (upstreams.File{Servers: map[string]upstreams.Server{name: s}}).Checked(); err != nil {
		return "", "", err.Error()
	}
	upstream = j.known.Add(name, j.client.name, s, j.opts.Taken)
	return e.reach(f.src, j.opts.Gateway+"/mcp/"+upstream, "Bearer "+j.opts.Token), upstream, ""
}

// Removal plans giving every entry back as it was.
func Removal(w install.World, client string) (*install.Plan, []Server, error) {
	j, files, err := begin(w, client)
	if err != nil {
		return nil, nil, err
	}
	var changed []install.Rewritten
	for _, f := range files {
		if next := j.back(f); next != nil {
			changed = append(changed, install.Rewritten{Path: f.path, Old: f.src, New: next})
		}
	}
	was := j.rec
	j.rec = &record{Client: client, Entries: j.stays} // what it was is not lost with it
	if err := j.forget(w, was); err != nil {
		return nil, nil, err
	}
	p, err := j.plan(w, changed)
	return p, j.seen, err
}

// back is the text of a file as it was; nil where nothing in it changes.
func (j *job) back(f opened) []byte {
	out, at := []byte(nil), 0
	for _, e := range f.entries {
		if !e.behind {
			continue
		}
		v := e.view(f)
		i := slices.IndexFunc(j.rec.Entries, func(w written) bool { return w.is(f.path, e.where) })
		switch {
		case i < 0:
			v.Why = "it is not on record; write the command behind -- back by hand"
		case !j.rec.Entries[i].still(f.src[e.start:e.end]):
			v.Why = "somebody changed it since, so it stays; write it back by hand"
			j.stays = append(j.stays, j.rec.Entries[i])
		default:
			v.Behind = false
			out = append(append(out, f.src[at:e.start]...), j.rec.Entries[i].Old...)
			at = e.end
		}
		j.seen = append(j.seen, v)
	}
	if at == 0 {
		return nil
	}
	return append(out, f.src[at:]...)
}

// forget takes out of the gateway's file what nobody else leads to.
func (j *job) forget(w install.World, was *record) error {
	used := map[string]bool{}
	for _, name := range Names() {
		if name == j.client.name {
			continue
		}
		other, err := recall(w, name)
		if err != nil {
			return err
		}
		for _, e := range other.Entries {
			used[e.Upstream] = true
		}
	}
	for _, s := range j.seen { // what stays behind Tidemark is still needed
		used[s.As] = used[s.As] || s.Behind
	}
	for _, e := range j.stays {
		used[e.Upstream] = true
	}
	for _, e := range was.Entries {
		if e.Upstream != "" && !used[e.Upstream] {
			delete(j.known.Servers, e.Upstream)
		}
	}
	return nil
}
