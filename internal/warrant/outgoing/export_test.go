package outgoing

// Known is one form of the data, for tests.
type Known struct {
	Words   []string
	Deed    string
	Options []string
	Needs   []string
}

// Forms are all forms of the data.
func Forms() []Known {
	var out []Known
	for _, f := range known.forms {
		k := Known{Words: f.words, Deed: f.deed, Needs: f.needs}
		for name := range f.options {
			k.Options = append(k.Options, name)
		}
		out = append(out, k)
	}
	return out
}

// Read reads data as the program's own is read.
func Read(text string) error {
	_, err := read(text)
	return err
}
