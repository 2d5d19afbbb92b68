package ntfy

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
)

// Read reads a section that describes a topic.
func Read(r *endpoint.Reader, n *configfile.Node) *Options {
	o := &Options{}
	topic := func(to *string) func(*configfile.Node) {
		return func(n *configfile.Node) {
			v, ok := r.Text(n)
			if ok && !topicForm.MatchString(v) {
				r.Errorf(n.Pos, "%s: a topic has letters, digits, - and _, at most 64", n.Path)
			}
			*to = v
		}
	}
	r.Fields(n, map[string]func(*configfile.Node){
		"server":      func(n *configfile.Node) { o.Server = strings.TrimSuffix(r.Address(n), "/") },
		"topic":       topic(&o.Topic),
		"answers":     topic(&o.Answers),
		"token":       func(n *configfile.Node) { o.Token, _ = r.Secret(n) },
		"answerToken": func(n *configfile.Node) { o.AnswerToken, _ = r.Secret(n) },
		"approve": func(n *configfile.Node) {
			if o.Approve, _ = r.Bool(n); o.Approve {
				r.Warnf(n.Pos, "%s: whoever can read the topic can approve, and nobody is told who it was", n.Path)
			}
		},
	})
	r.Needs(n, "topic")
	if a := n.Get("answers"); a != nil && o.Answers == o.Topic {
		r.Errorf(a.Pos, "%s must be another topic than the one questions go to", a.Path)
	}
	return o
}
