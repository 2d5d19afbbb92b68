package draw

import "github.com/tidemark/tidemark/trust"

// colour is one meaning on a light and on a dark ground; both have a contrast of at
// least 4.5 to 1 against the panel they are drawn on.
type colour struct{ name, light, dark string }

// attributes colour an element: the class takes over on a dark ground.
func (c colour) attributes() string { return `class="tm-` + c.name + `" color="` + c.light + `"` }

// levelColours run from cool to hot as trust falls.
var levelColours = [trust.NumLevels]colour{
	trust.Untrusted: {"untrusted", "#b91c1c", "#f87171"},
	trust.External:  {"external", "#c2410c", "#fb923c"},
	trust.Shared:    {"shared", "#a16207", "#facc15"},
	trust.Local:     {"local", "#0f766e", "#2dd4bf"},
	trust.Owner:     {"owner", "#1d4ed8", "#7aa2ff"},
	trust.System:    {"system", "#475569", "#a3b1c6"},
}

// outcomeColours name every outcome that has a colour of its own.
var outcomeColours = []colour{
	{"taint-escalation", "#a21caf", "#e879f9"},
	{"danger", "#be123c", "#fb7185"},
	{"confirm", "#b45309", "#fbbf24"},
	{"deny", "#b91c1c", "#f87171"},
	{"approved", "#15803d", "#4ade80"},
	{"reset", "#0369a1", "#38bdf8"},
}

func levelColour(l trust.Level) colour {
	if int(l) >= len(levelColours) {
		l = trust.Untrusted
	}
	return levelColours[l]
}

func outcomeColour(outcome string) colour {
	switch outcome {
	case "approve":
		outcome = "approved"
	case "failed", "blocked":
		outcome = "deny"
	}
	for _, c := range outcomeColours {
		if c.name == outcome {
			return c
		}
	}
	return levelColour(trust.System)
}
