package proxy

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/llm/eventstream"
	"github.com/tidemark/tidemark/internal/llm/sigv4"
)

// Models that a cloud runs for others: Amazon's Bedrock, Google's Vertex. Their paths name the model,
// their bodies are those of the model's maker, and Amazon's requests are signed.

// cloudCall is a path of Bedrock: what stands before it, the model and what is asked of it.
type cloudCall struct {
	before, model, verb string
}

// cloudPath is such a path. A model is a name, or a resource of somebody's account, which has a slash in it.
var cloudPath = regexp.MustCompile(`(?i)^(.*)/model/([a-z0-9._:-]+|arn:aws[a-z-]*:[a-z]+:[a-z0-9-]+:[0-9]*:[a-z0-9-]+/[a-z0-9._:-]+)/` +
	`(converse|converse-stream|invoke|invoke-with-response-stream|count-tokens)/?$`)

func cloudCallOf(rest string) (cloudCall, bool) {
	m := cloudPath.FindStringSubmatch(rest)
	if m == nil {
		return cloudCall{}, false
	}
	return cloudCall{before: m[1], model: m[2], verb: strings.ToLower(m[3])}, true
}

// path is the path that asks it, and the one way in which Amazon's services and signatures want it written.
func (c cloudCall) path() (plain, escaped string) {
	return c.before + "/model/" + c.model + "/" + c.verb, c.before + "/model/" + sigv4.Encode(c.model, "") + "/" + c.verb
}

// whyHosted is why a body is refused that no model of Anthropic's would take.
const whyHosted = "a model can be asked this way where its body is Anthropic's (anthropic_version is in it); use converse for others"

// plainCloud is plainPath for a path of Bedrock, in which a model may be named with an escaped slash.
func (u *upstream) plainCloud(r *http.Request) bool {
	if u.API != "bedrock" || !strings.Contains(strings.ToLower(r.URL.EscapedPath()), "%2f") {
		return false
	}
	call, ok := cloudCallOf(r.URL.Path)
	if !ok || strings.Contains(call.model, "..") {
		return false
	}
	named := *r.URL
	named.Path, named.RawPath = call.before+"/model/m/"+call.verb, ""
	escaped := strings.ToLower(r.URL.EscapedPath())
	return plainPath(&named) && strings.HasPrefix(escaped, strings.ToLower(call.before)+"/model/") &&
		strings.HasSuffix(strings.TrimRight(escaped, "/"), "/"+call.verb)
}

// signsItself reports whether a client has signed its request for one of Amazon's services.
func signsItself(h http.Header) bool { return strings.HasPrefix(h.Get("Authorization"), "AWS4-") }

const whySigned = "the request is signed for Amazon's own address, which stands for nothing here: name the region under " +
	"llm.upstreams.<name>.sign and give the server the key (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), or use a key for Bedrock (AWS_BEARER_TOKEN_BEDROCK)"

// sign signs what goes out, where the upstream wants it.
func (x *exchange) sign(r *http.Request, body []byte) {
	if key := x.u.Sign; key != nil {
		key.Sign(r, body, x.p.o.Now())
	}
}

// framing reports whether an answer comes in frames that are known here.
func (x *exchange) framing(kind string) bool {
	return x.rt.frames != eventstream.None && kind == eventstream.MediaType
}
