package box

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Close ends every process of the box, puts aside what came into being and would run elsewhere, and says what there was to say. What
// was put aside stays in the box's folder; the rest of the folder goes.
func (b *Box) Close() (*Report, error) {
	counts := b.ask()
	err := errors.Join(b.closeWay(), b.end())
	if b.watch != nil {
		b.watch.stop()
	}
	b.over = true
	var aside []Aside
	for _, before := range append([]*survey{b.before}, b.granted...) {
		found, asideErr := b.putAside(before.again())
		if before == b.before {
			found = b.awaits(found)
		}
		aside, err = append(aside, found...), errors.Join(err, asideErr)
	}
	if len(b.waits) > 0 {
		at := time.Now()
		aside = append(aside, b.settle(b.orders(context.Background()), at, true)...)
	}
	b.letAllGo()
	layers := b.layers() // before anything of them is put aside
	changed, homeErr := b.homeAside()
	aside, err = append(aside, changed...), errors.Join(err, homeErr)
	r := &Report{
		Workspace: b.want.Workspace, Withheld: b.withheld, Layer: layers, NotShown: counts.NotShown, Unrouted: counts.Unrouted,
		Processes: counts.Processes, Reduced: b.reduced, Watching: b.watch != nil, Dropped: b.dropped,
	}
	if b.watch != nil {
		r.Aside = b.watch.aside
	}
	if len(changed) > 0 {
		r.Home = b.want.Home
	}
	if r.Aside = append(r.Aside, aside...); len(r.Aside) > 0 {
		r.LeftIn = b.want.State
		err = errors.Join(err, b.record(r))
	}
	return r, errors.Join(err, b.clear())
}

// Standing is what a box that goes on has kept from happening so far.
func (b *Box) Standing() *Report {
	counts := b.ask()
	return &Report{
		Workspace: b.want.Workspace, Withheld: b.withheld, NotShown: counts.NotShown, Unrouted: counts.Unrouted,
		Processes: counts.Processes, Reduced: b.reduced, Watching: b.watch != nil, Aside: b.Aside(),
	}
}

// Aside is what was put aside so far, and was not ordered.
func (b *Box) Aside() []Aside {
	if b.watch == nil {
		return nil
	}
	b.watch.whole() // what is out of its place already is on its way to the list
	b.watch.asked()
	b.watch.whole()
	b.watch.mu.Lock()
	defer b.watch.mu.Unlock()
	return slices.Clone(b.watch.aside)
}

// ask asks the box how things stand. A box that has ended already does not say.
func (b *Box) ask() counts {
	b.asks.Lock()
	defer b.asks.Unlock()
	if b.wire.send(message{Ask: true}) != nil {
		return counts{}
	}
	select {
	case c := <-b.asked:
		return c
	case <-b.gone:
	case <-time.After(time.Second):
	}
	return counts{}
}

// end ends the first process, and so every process of the box, and waits until the kernel has done so.
func (b *Box) end() error {
	_ = b.wire.conn.Close()
	if b.reduced { // it ends those that it started, and then itself
		select {
		case <-b.gone:
		case <-time.After(10 * time.Second):
		}
	}
	select {
	case <-b.gone: // no other process may have its number by now
	default:
		if err := b.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("end box: %w", err)
		}
	}
	<-b.gone
	return nil
}

// record writes down what a folder holds that is left behind.
func (b *Box) record(r *Report) error {
	raw, err := strictjson.MarshalIndent(r)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return os.WriteFile(filepath.Join(b.want.State, "report.json"), append(raw, '\n'), 0o600)
}

// clear removes what of the box's folder is not kept for a person.
func (b *Box) clear() error {
	if b.lock != nil {
		defer b.lock.Close()
	}
	return clearState(b.want.State)
}

// clearState removes a box's folder but for what was put aside in it.
func clearState(state string) error {
	entries, err := os.ReadDir(state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clear box: %w", err)
	}
	kept := exists(filepath.Join(state, "aside"))
	for _, e := range entries {
		if kept && slices.Contains([]string{"aside", "report.json"}, e.Name()) {
			continue
		}
		if err := removeAll(filepath.Join(state, e.Name())); err != nil {
			return fmt.Errorf("clear box: %w", err)
		}
	}
	if kept {
		return nil
	}
	return os.RemoveAll(state)
}

// removeAll removes a folder whatever the modes of what is in it: commands may leave folders that not even they may write.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(at, 0o700) //nolint:gosec // a folder; what stays closed is told by the second try
		}
		return nil
	})
	return os.RemoveAll(path)
}

// layers counts what was written to each layer.
func (b *Box) layers() []Layer {
	var out []Layer
	for _, s := range b.plan.Steps {
		dir := s.layerFolder(b.want.State)
		if dir == "" {
			continue
		}
		n := 0
		_ = filepath.WalkDir(filepath.Join(dir, "up"), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return nil
		})
		if n > 0 {
			out = append(out, Layer{Path: s.To, Files: n})
		}
	}
	return out
}
