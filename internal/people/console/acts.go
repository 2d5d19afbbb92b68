package console

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
)

const actChallenge = Path + "/act/challenge"

// actSaid is what a person agrees to with a form other than an answer: the act, what it is
// about, and the hash of a text that goes with it.
func actSaid(r *http.Request) string {
	what := r.PostForm.Get("what")
	if text := strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n"); text != "" {
		sum := sha256.Sum256([]byte(text))
		what += " " + hex.EncodeToString(sum[:])
	}
	return approvalproof.SaidEnrol(r.PostForm.Get("do"), what)
}

func (c *Console) actChallenge(v *visit) { c.ceremony(v, actSaid(v.r)) }

// proven lets an act through that takes a role, or where keys are enrolled a key of such a
// role; the proof is recorded.
func (c *Console) proven(v *visit, role string) error {
	want := c.keys.Required()
	if want == approvalproof.None {
		if v.mayRule() || role == "approver" && v.mayApprove() {
			return nil
		}
		return say(http.StatusForbidden,
			"Nothing was changed: this takes the role %s. Sign in with tidemark console --role %s.", role, role)
	}
	given, err := readProof(v.r.PostForm.Get("proof"))
	if err != nil {
		return err
	}
	said := actSaid(v.r)
	kept, err := c.keys.Check(said, given, v.r.PostForm.Get("secret"))
	if err != nil {
		return err
	}
	if role == "admin" && !v.mayRule() && (want != approvalproof.Passkey || c.keys.RoleOf(kept.Key) != "admin") {
		return say(http.StatusForbidden, "Nothing was changed: this takes the role admin, of the session or of the key.")
	}
	v.key = c.keys.OwnerOf(kept.Key)
	return c.keys.Record(v.r.Context(), event.Person{Act: "proved", By: v.by(), Via: "console", Detail: said, Proof: kept})
}

// actForm is a form whose act takes a proof where one is required.
func (c *Console) actForm(v *visit, path, what string, parts ...h.Part) h.HTML {
	want := c.keys.Required()
	all := h.List{
		h.A("method", "post"), h.A("action", path), h.A("data-form", "prove"), h.A("data-proof", string(want)),
		h.A("data-url", actChallenge), h.A("data-token", v.Token(actChallenge)), c.token(v, path), hidden("what", what),
	}
	if want == approvalproof.Typed {
		all = append(all, h.El("label", h.Class("note"), h.T("Secret "),
			h.El("input", h.A("type", "password"), h.A("name", "secret"), h.A("autocomplete", "off"))))
	}
	return h.El("form", append(append(all, parts...), h.El("p", h.Class("problem"), h.A("role", "alert")))...)
}

// act is the button of such a form.
func act(do, text string) h.HTML {
	return h.El("button", h.A("name", "do"), h.A("value", do), h.T(text))
}

// field is a labelled input.
func field(label, name, value string, attrs ...h.Part) h.HTML {
	return h.El("label", h.T(label+" "), h.El("input", append(h.List{h.A("name", name), h.A("value", value), h.A("autocomplete",
		"off")}, attrs...)...))
}

// choice is a labelled list to choose from.
func choice(label, name, now string, options ...string) h.HTML {
	list := h.List{h.A("name", name)}
	for _, o := range options {
		text := o
		switch o {
		case "":
			text = "any"
		case "confirm":
			text = "ask"
		}
		list = append(list, h.El("option", h.A("value", o), h.Flag("selected", o == now), h.T(text)))
	}
	return h.El("label", h.T(label+" "), h.El("select", list...))
}

// effectWord is a verdict as a word with its colour.
func effectWord(effect string) h.HTML {
	word := map[string]string{
		"allow": "allowed", "confine": "in a box", "confirm": "asked", "deny": "denied", "ask": "asked", "restrict": "denied",
	}[effect]
	if word == "" {
		return h.El("span", h.T(effect))
	}
	class := map[string]string{"allowed": "allow-word", "in a box": "allow-word", "asked": "confirm-word", "denied": "deny-word"}[word]
	return h.El("strong", h.Class(class), h.T(word))
}

func levelWord(level string) h.HTML { return h.El("b", h.Class("level "+level), h.T(level)) }
