// Package wordlist reads the lists of words that the judge goes by. They stand in text files beside the code that uses them: "name :"
// begins a list, the lines up to the next one are its words, "//" begins a comment. Words may follow the colon as well.
package wordlist

import "strings"

// Lists are the lists of a file by their names, line by line.
type Lists map[string][][]string

// Read takes a file apart.
func Read(text string) Lists {
	out, name := Lists{}, ""
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "//" {
			continue
		}
		if len(words) > 1 && words[1] == ":" {
			name, words = words[0], words[2:]
		}
		if len(words) > 0 {
			out[name] = append(out[name], words)
		}
	}
	return out
}

// Lines are the lines of a list. Like a pattern that does not compile, a list that is not there is a mistake of this program, found by
// whatever test is run first.
func (l Lists) Lines(name string) [][]string {
	lines := l[name]
	if len(lines) == 0 {
		panic("wordlist: no list of words is called " + name)
	}
	return lines
}

// Set are the words of lists.
func (l Lists) Set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		for _, line := range l.Lines(name) {
			for _, w := range line {
				out[w] = true
			}
		}
	}
	return out
}

// ByFirst are the words of a list with the first word of their line, which stands for all of it.
func (l Lists) ByFirst(name string) map[string]string {
	out := map[string]string{}
	for _, line := range l.Lines(name) {
		for _, w := range line[1:] {
			out[w] = line[0]
		}
	}
	return out
}
