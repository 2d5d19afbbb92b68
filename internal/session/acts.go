package session

import "github.com/tidemark/tidemark/internal/event"

// MaxDoubts is how often an isolated model may be unsure about acts of one task, or find that they are not wanted, before
// it is asked no more: who tries other tools and other values until it errs is a steered agent.
const MaxDoubts = 3

// Acts are what an isolated model said of acts in the task at hand: since the user's latest message. The zero value is
// that nobody was asked.
type Acts struct {
	answers map[string]*act
	doubts  int
	given   int
}

type act struct {
	answer, quote string
	spent         bool
}

// Closed reports whether it is asked no more in this task.
func (a *Acts) Closed() bool { return a.doubts >= MaxDoubts }

// Given is how many items it has given in this task.
func (a *Acts) Given() int { return a.given }

// Answer is what it said to a question of this key, and in which words of the user's; spent: the item that it gave was
// used.
func (a *Acts) Answer(key string) (answer, quote string, spent, known bool) {
	if found := a.answers[key]; found != nil {
		return found.answer, found.quote, found.spent, true
	}
	return "", "", false, false
}

// note folds an opinion. A question counts once, however often it comes up.
func (a *Acts) note(o *event.Opinion, ran bool) {
	if o == nil || o.Key == "" || o.Failed != "" {
		return
	}
	found := a.answers[o.Key]
	if found == nil {
		if a.answers == nil {
			a.answers = map[string]*act{}
		}
		found = &act{answer: o.Answer, quote: o.Quote}
		a.answers[o.Key] = found
		if o.Answer != "asked" && o.Answer != "step" {
			a.doubts++
		}
	}
	if ran && o.Settled == "allow" && !found.spent {
		found.spent = true
		a.given++
	}
}
