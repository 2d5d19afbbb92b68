package install

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// hooks is the file of the trial that holds our hooks: in the home or, for a project's
// settings, where the agent works.
func (r *rig) hooks() string {
	p := r.agent.Place
	if r.w.Project != "" {
		return filepath.Join(r.work, filepath.FromSlash(p.Project))
	}
	return filepath.Join(r.home, filepath.FromSlash(p.User.Home), filepath.FromSlash(p.User.File))
}

// prepare writes the files of the trial. The administrator's hooks are where they are.
func (r *rig) prepare() (catalogue.Launch, error) {
	l := r.agent.Trial(catalogue.Stage{
		Home: r.home, Work: r.work, Model: r.url, Project: r.w.Project != "", Trusted: r.agent.skips(r.w) == "", Data: r.w.Data,
	})
	switch {
	case r.w.Managed && r.w.Root != "":
		return l, errors.New("the administrator's settings are read from the real root alone")
	case !r.w.Managed:
		if err := r.place(l); err != nil {
			return l, err
		}
	default:
		if err := r.aside(l); err != nil {
			return l, err
		}
	}
	for _, p := range l.Fetched {
		r.fetched(r.w.file(p), filepath.Join(r.home, filepath.FromSlash(p.Home), filepath.FromSlash(p.File)))
	}
	for _, f := range l.Files {
		if err := writeJSON(f.Path, f.Value); err != nil {
			return l, err
		}
	}
	return l, nil
}

// fetched puts what the agent has fetched already where the agent of the trial looks for it. Where that cannot be it fetches it itself.
func (r *rig) fetched(from, to string) {
	info, err := os.Stat(from)
	if err != nil || os.MkdirAll(filepath.Dir(to), 0o700) != nil {
		return
	}
	if info.IsDir() {
		_ = os.Symlink(from, to)
		return
	}
	if raw, err := os.ReadFile(from); err == nil {
		_ = os.WriteFile(to, raw, 0o600) //nolint:gosec // the person's own files, as the catalogue names them
	}
}

// aside writes what the agent needs besides the administrator's hooks to run at all.
func (r *rig) aside(l catalogue.Launch) error {
	if l.User != nil {
		if err := r.user(l); err != nil {
			return err
		}
	}
	if r.agent.stage == nil {
		return nil
	}
	return r.agent.stage(r, nil)
}

// user writes the user's settings of the trial, where our hooks are not in them.
func (r *rig) user(l catalogue.Launch) error {
	p := r.agent.Place.User
	return writeJSON(filepath.Join(r.home, p.Home, p.File), l.User)
}

// place puts our hooks where the agent of the trial looks for them.
func (r *rig) place(l catalogue.Launch) error {
	if r.agent.script != nil {
		path, err := r.agent.path(r.w)
		if err != nil {
			return err
		}
		body, err := r.w.readFile(path)
		if err != nil {
			return err
		}
		return writeNew(r.hooks(), body)
	}
	if r.agent.settings != nil {
		body, err := r.agent.settings(r, l.With)
		if err != nil {
			return err
		}
		return writeNew(r.hooks(), body)
	}
	with := l.With
	if l.User != nil && r.w.Project == "" { // one file for both
		with = l.User
	}
	body, err := r.settings(with)
	if err != nil {
		return err
	}
	if l.User != nil && r.w.Project != "" {
		if err := r.user(l); err != nil {
			return err
		}
	}
	if err := writeNew(r.hooks(), body); err != nil || r.agent.stage == nil {
		return err
	}
	return r.agent.stage(r, body)
}

// settings is the file of the trial: of the real one, only our hooks and what turns hooks
// off. Keys and addresses of the person's model stay where they are.
func (r *rig) settings(extra map[string]any) ([]byte, error) {
	path, err := r.agent.path(r.w)
	if err != nil {
		return nil, err
	}
	src, err := r.w.readFile(path)
	if err != nil {
		return nil, err
	}
	real, err := openText(path, src, true)
	if err != nil {
		return nil, err
	}
	base, err := strictjson.Marshal(extra)
	if err != nil {
		return nil, err
	}
	out, err := openText("settings", base, false)
	if err != nil {
		return nil, err
	}
	if hooks := real.Find("hooks"); hooks != nil {
		for i, name := range hooks.Names {
			for _, v := range hooks.Values[i].Values {
				if raw := real.Raw(v); hooks.Values[i].Kind == '[' && r.takes(raw) {
					if err := out.add([]string{"hooks", name}, raw); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	for _, s := range r.agent.Switches {
		if n := real.Find(s.Path...); n != nil {
			if err := out.set(s.Path, real.Raw(n)); err != nil {
				return nil, err
			}
		}
	}
	if p := r.agent.Prefix; p != nil && len(p.Setting) > 0 {
		if n := real.Find(p.Setting...); n != nil && settings.Same(real.Raw(n), value(catalogue.PrefixProgram(r.w.Data, r.agent.Name))) {
			if err := out.set(p.Setting, real.Raw(n)); err != nil {
				return nil, err
			}
		}
	}
	return out.Src, nil
}

func value(s string) strictjson.Value {
	raw, err := strictjson.Marshal(s)
	if err != nil {
		return strictjson.Value("null") // a path that is no text
	}
	return raw
}

// takes reports whether a hook goes into the trial. Of a project, which others write to,
// only what we wrote ourselves does, letter by letter.
func (r *rig) takes(raw strictjson.Value) bool {
	if r.w.Project == "" {
		return r.w.ours(raw)
	}
	if r.record != nil {
		for _, e := range r.record.Files {
			for _, p := range e.Parts {
				if settings.Same(p.Value, raw) {
					return true
				}
			}
		}
	}
	return false
}

func writeNew(path string, contents []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, contents, 0o600)
}

func writeJSON(path string, v any) error {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return err
	}
	return writeNew(path, raw)
}
