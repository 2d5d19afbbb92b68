package format

import "strings"

// Prompt is the system prompt: what Edit.System takes the place of. In Chat Completions it is the
// system messages that the list starts with, elsewhere what stands outside of it.
func (r *Request) Prompt() (string, error) {
	var texts []string
	add := func(m *Message) {
		for i := range m.Parts {
			texts = append(texts, m.Parts[i].Text)
		}
	}
	for i := range r.Head {
		add(&r.Head[i])
	}
	if r.API == Chat {
		list, err := r.All()
		if err != nil {
			return "", err
		}
		for _, entry := range list {
			m, err := newParser(entry, r.dialect).outsideEntry()
			if err != nil || m.Role != System {
				break
			}
			add(&m)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}
