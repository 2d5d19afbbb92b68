package session

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant/remembered"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Labels are what was written while tainted, by any session (BEY-02): the fold of the log
// of labels. Apply is the only thing that changes them. The zero Labels are none.
type Labels struct {
	Version uint64 // how many events were folded

	byKey  map[string]*event.Resource
	byName map[string][]string // keys by the last part of their path
	byHash map[tool.Digest]*event.Resource
}

// Apply folds one event.
func (l *Labels) Apply(e *event.Event) {
	l.Version++
	r := e.Resource
	if r == nil {
		return
	}
	if e.Kind == event.LabelCleared {
		l.clear(r.Key)
		return
	}
	if l.byKey == nil {
		l.byKey, l.byName, l.byHash = map[string]*event.Resource{}, map[string][]string{}, map[tool.Digest]*event.Resource{}
	}
	if old := l.byKey[r.Key]; old == nil {
		name := baseName(r.Key)
		l.byName[name] = append(l.byName[name], r.Key)
	} else {
		joined := *r
		joined.Label = old.Label.Join(r.Label)
		switch {
		case r.Hash != nil: // it was written whole: nothing of what was there is left
		case r.Session == old.Session:
			joined.What, joined.Before = r.What|old.What, old.Before
		default:
			joined.Before = old.Before | known(old.What)
		}
		r = &joined
	}
	l.byKey[r.Key] = r
	if r.Hash != nil {
		l.byHash[*r.Hash] = graver(l.byHash[*r.Hash], r)
	}
}

// known is what is known of a file; where nothing is, nobody can tell what it does.
func known(what uint64) uint64 {
	if what == 0 {
		return remembered.Opaque
	}
	return what
}

// Kept are files that other sessions than the one that asks wrote, as judgement knows them, with their labels.
type Kept struct {
	Files remembered.Files
	of    map[string][]*event.Resource // by name
}

// In are the labelled files that other sessions had a part in, for a session that works in a folder. A file that lies
// elsewhere counts only where it is named; one of which nobody knows where it lies may lie here. One that does lie here goes by its
// name from here, as commands have it: a build runs what is in its folder, wherever that folder is, below /tmp too.
func (l *Labels) In(folder, session string) Kept {
	k := Kept{of: map[string][]*event.Resource{}}
	for key, r := range l.byKey {
		name, isFile := strings.CutPrefix(key, "file:")
		what := known(r.What) | r.Before
		if r.Session == session {
			what = r.Before
		}
		if !isFile || what == 0 {
			continue
		}
		far := !lies(name, r.Folder, folder)
		if name != folder && within(name, folder) {
			name = strings.TrimPrefix(name[len(strings.TrimSuffix(folder, "/")):], "/")
		}
		k.Files = append(k.Files, remembered.File{Name: name, What: what, Far: far})
		k.of[name] = append(k.of[name], r)
	}
	return k
}

// lies reports whether a labelled file, written where another folder was worked in, may be of this one.
func lies(name, written, folder string) bool {
	if !strings.HasPrefix(name, "/") && written == "" {
		return true
	}
	return folder != "" && (within(name, folder) || within(folder, written))
}

// within reports whether a path is a folder or lies below it.
func within(name, folder string) bool {
	folder = strings.TrimSuffix(folder, "/")
	return folder != "" && (name == folder || strings.HasPrefix(name, folder+"/"))
}

// Label joins the labels of some of the files.
func (k Kept) Label(files remembered.Files) trust.Label {
	label := Neutral()
	for _, f := range files {
		for _, r := range k.of[f.Name] {
			label = label.Join(source(r))
		}
	}
	return label
}

// source is a resource's label, with itself as its source.
func source(r *event.Resource) trust.Label {
	one := r.Label
	one.Sources = []trust.Source{{
		Level: r.Label.Level, Step: r.Step, Kind: "labelled resource", Tool: r.Tool,
		Detail: fmt.Sprintf("%s, written in session %s", r.Key, r.Session),
	}}
	return one
}

// graver is whichever of two is trusted less.
func graver(a, b *event.Resource) *event.Resource {
	if a != nil && a.Label.Level < b.Label.Level {
		return a
	}
	return b
}

// clear forgets a label. The same content under another key keeps its own.
func (l *Labels) clear(key string) {
	old := l.byKey[key]
	if old == nil {
		return
	}
	delete(l.byKey, key)
	name := baseName(key)
	l.byName[name] = slices.DeleteFunc(l.byName[name], func(k string) bool { return k == key })
	if old.Hash == nil {
		return
	}
	delete(l.byHash, *old.Hash)
	for _, r := range l.byKey {
		if sameHash(r.Hash, old.Hash) {
			l.byHash[*old.Hash] = graver(l.byHash[*old.Hash], r)
		}
	}
}

// Len is how many resources are labelled.
func (l *Labels) Len() int { return len(l.byKey) }

// Has reports whether the resource is labelled.
func (l *Labels) Has(key string) bool { return l.byKey[key] != nil }

// Known reports whether r would add nothing to what is known.
func (l *Labels) Known(r *event.Resource) bool {
	old := l.byKey[r.Key]
	return old != nil && old.Label.Covers(r.Label) && sameHash(old.Hash, r.Hash) && old.Session == r.Session && old.What == old.What|r.What
}

// All are the labelled resources by key. They are shared and must not be changed.
func (l *Labels) All() []*event.Resource {
	return slices.SortedFunc(maps.Values(l.byKey), func(a, b *event.Resource) int { return cmp.Compare(a.Key, b.Key) })
}

// Find joins the labels of everything the keys may name, and of the content. A file is
// also found by a path that ends or begins differently: hosts disagree on where a
// workspace is.
func (l *Labels) Find(keys []string, content *tool.Digest) (label trust.Label, found bool) {
	label = Neutral()
	add := func(r *event.Resource) {
		if r == nil {
			return
		}
		label, found = label.Join(source(r)), true
	}
	for _, k := range keys {
		for _, other := range l.byName[baseName(k)] {
			if sameResource(k, other) {
				add(l.byKey[other])
			}
		}
	}
	if content != nil {
		add(l.byHash[*content])
	}
	return label, found
}

func baseName(key string) string {
	if i := strings.LastIndexByte(key, '/'); i >= 0 {
		return key[i+1:]
	}
	_, name, _ := strings.Cut(key, ":")
	return name
}

// sameResource reports whether two keys may name the same thing: one is the other, or
// the end of the other's path.
func sameResource(a, b string) bool {
	kindA, nameA, _ := strings.Cut(a, ":")
	kindB, nameB, _ := strings.Cut(b, ":")
	if kindA != kindB {
		return false
	}
	return nameA == nameB || strings.HasSuffix(nameA, "/"+nameB) || strings.HasSuffix(nameB, "/"+nameA)
}

func sameHash(a, b *tool.Digest) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
