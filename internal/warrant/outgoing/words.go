package outgoing

import (
	"strings"
	"unicode/utf8"
)

// maxLine is the longest line that is read: a longer one is no plain command.
const maxLine = 16 << 10

// bare are the signs that no shell gives a meaning where they are not quoted, besides letters and digits of ASCII.
const bare = "_-./:@,+=%"

// split takes a line apart as every shell does, if there is nothing in it but words: plain signs, and quotes around text that stays
// what it is. Everything else is refused, whatever a shell would make of it: the line is then no plain command.
func split(line string) ([]string, bool) {
	line = strings.Trim(line, " \t\n")
	if line == "" || len(line) > maxLine || !utf8.ValidString(line) {
		return nil, false
	}
	var (
		words []string
		word  strings.Builder
		open  bool // a word has begun
	)
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == ' ' || c == '\t':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
			i++
			continue
		case c == '\'' || c == '"':
			text, size, ok := quoted(line[i:])
			if !ok {
				return nil, false
			}
			word.WriteString(text)
			i += size
		case c == '\\':
			if i+1 >= len(line) || line[i+1] < ' ' || line[i+1] > '~' {
				return nil, false
			}
			word.WriteByte(line[i+1])
			i += 2
		case plainSign(c) && (open || c != '='): // a word that begins with "=" names a program to some shells
			word.WriteByte(c)
			i++
		default:
			return nil, false
		}
		open = true
	}
	if open {
		words = append(words, word.String())
	}
	return words, true
}

// Split is the words of a line in which there is nothing but words.
func Split(line string) ([]string, bool) { return split(line) }

func plainSign(c byte) bool { return letter(c) || strings.IndexByte(bare, c) >= 0 }

// letter is one of ASCII, or a digit.
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }

// quoted reads a text in quotes at the beginning of a line, and says how much of the line it takes.
func quoted(line string) (text string, size int, ok bool) {
	mark := line[0]
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		c := line[i]
		switch {
		case c == mark:
			return b.String(), i + 1, true
		case c < ' ' && c != '\n' && c != '\t' || c == 0x7f:
			return "", 0, false
		case mark == '\'':
			b.WriteByte(c)
		case c == '$' || c == '`' || c == '!': // a shell may put something in its place
			return "", 0, false
		case c == '\\':
			if i++; i >= len(line) {
				return "", 0, false
			}
			switch next := line[i]; {
			case strings.IndexByte("\"\\$`", next) >= 0:
			case letter(next): // there it is no escape: both signs are the text's, as in the "\n" of a format
				b.WriteByte(c)
			default:
				return "", 0, false
			}
			b.WriteByte(line[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}
