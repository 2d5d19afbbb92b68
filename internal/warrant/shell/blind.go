package shell

import "strings"

// use is what a program does with a name that is decided only when it runs.
type use uint8

const (
	toRead use = iota
	toWrite
	toRemove
	toCall // an address
	toSend // any word of a program that talks to another machine
)

// The caps on names and texts that are kept to be put together.
const (
	maxBlind = 64
	maxLoose = 256
)

// blindUse is one such name; "$" stands for what is not known.
type blindUse struct {
	kind use
	text string
}

// blindly notes that a name is used that is not known.
func (w *walker) blindly(kind use, text string) {
	if !strings.Contains(text, "$") {
		return
	}
	u := blindUse{kind, text}
	for _, b := range w.blind {
		if b == u {
			return
		}
	}
	if w.blind = append(w.blind, u); len(w.blind) > maxBlind {
		w.unread()
	}
}

// loosely notes a text that may be the value of a name that is not known: what a variable
// is set to, or a function is handed. Only those that could matter are kept.
func (w *walker) loosely(text string) {
	if text == "" || text == "$" || strings.ContainsAny(text, " \n") {
		return
	}
	if !rooted(text) && !strings.ContainsAny(text[:1], "-@.") && !strings.Contains(text, "://") && !Secret(text) && !Lasting(text) {
		return
	}
	if w.loose = union(w.loose, text); len(w.loose) > maxLoose {
		w.unread()
	}
}

// connect puts the names that are not known together with the texts they may stand for:
// each may be any of them.
func (w *walker) connect() {
	for _, b := range w.blind {
		for _, text := range w.loose {
			w.meets(b, text, strings.Replace(b.text, "$", text, 1))
		}
	}
}

func (w *walker) meets(b blindUse, text, full string) {
	l := w.line
	switch b.kind {
	case toRead:
		if Secret(full) {
			note(&l.Secrets, full)
			l.Effects |= ReadsSecret
		}
	case toWrite:
		l.Effects |= w.stays(full)
	case toRemove:
		if everything(full) {
			l.Effects |= Wrecks
		}
	case toCall, toSend:
		if strings.Contains(text, "://") {
			note(&l.Addresses, full)
		}
		if b.kind == toSend && strings.ContainsAny(text[:1], "-@") {
			l.Effects |= NetworkWrite
			w.sends(strings.TrimLeft(text, "-dTF@="))
		}
	}
}

// sends notes a file that may be carried out.
func (w *walker) sends(file string) {
	if Secret(file) {
		note(&w.line.Secrets, file)
		w.line.Effects |= ReadsSecret
	}
}
