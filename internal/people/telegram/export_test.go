package telegram

// Render is a message as text.
func Render(m Message, last string) string { return m.text(last) }

// MaxText is the longest text, in UTF-16 units.
const MaxText = maxText

// ParseCallback reads the data of a button.
var ParseCallback = parseCallback

// CallbackData is the data of a button.
var CallbackData = callbackData

// ParseUpdates reads an answer of getUpdates: how many updates, and how many of them are
// taps.
func ParseUpdates(answer []byte) (updates, taps int, err error) {
	list, err := parseUpdates(answer)
	for _, u := range list {
		if _, ok := u.tap(); ok {
			taps++
		}
	}
	return len(list), taps, err
}
