package proxy

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/llm/eventstream"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// way is how a request is handled. The zero way refuses.
type way uint8

const (
	refuse   way = iota
	through      // nothing in it can be a tool call: byte for byte
	judged       // a model is asked: the request is read, the answer judged
	recalled     // an answer made earlier is fetched: judged, with nothing known about its context
)

// provider is what is particular to a kind of upstream.
type provider struct {
	api    format.API // of its errors, where the path tells nothing
	header string     // where its key goes
	scheme string     // what stands before the key there
}

// providers are the kinds of upstreams there are. With the routes below this is the one
// place outside package format that tells formats apart.
var providers = map[string]provider{
	"openai":    {format.Chat, "Authorization", "Bearer "},
	"anthropic": {format.Messages, "X-Api-Key", ""},
	"gemini":    {format.Gemini, "X-Goog-Api-Key", ""},
	"vertex":    {format.Gemini, "Authorization", "Bearer "},
	"bedrock":   {format.Converse, "Authorization", "Bearer "},
	"ollama":    {format.Ollama, "Authorization", "Bearer "},
}

// route is what a path means.
type route struct {
	way     way
	api     format.API
	inPath  bool      // the model and whether to stream are said by the path, not by the body
	model   string    // then
	stream  bool      // likewise
	array   bool      // and the stream is to be a JSON array
	cloud   cloudCall // asks a model of Amazon's
	hosted  bool      // the body must say that it is for one of Anthropic's models on another platform
	frames  eventstream.Kind
	wrapped bool       // the request stands in an envelope
	socket  bool       // requests and answers are messages on a websocket
	list    bool       // asks for the list of models
	plain   bool       // asks for nothing but that, a count or an embedding
	events  bool       // its answer may be a stream, where nothing is judged
	texts   format.API // its answer is a model's in this envelope, and may hold nothing but text
	members []string   // all that the request may have, where another API has the same path
	answers []string   // then: what its answer may have besides plain values
	why     string     // of a refusal
	locked  bool       // nobody can vouch for it
}

const (
	whyLive = "connections that stay open (realtime, live, a websocket of anything but responses) are not served: " +
		"their tool calls cannot be judged here"
	whyStored = "runs, assistants, threads, batches and stored prompts are not served: their tool calls cannot be judged here"
	whyAgents = "agents that run at the provider (sessions, environments, deployments, conversations that run a model) are not served: " +
		"their tool calls cannot be judged here"
	whyDialect = "this API can carry tool calls and is not one that can be judged here; " + whyInstead
	whyInstead = "use chat completions, responses, messages or generateContent"
	whyItems   = "lists of what was said are not served: they hold tool calls in a form that is not judged here"
	whyPath    = "the path is not written plainly"
	whyMethod  = "this method is not served here"
	whyUnknown = "it is not known here that this path carries no tool calls; " + whyInstead
)

// plainPath reports whether every reader understands the path alike. What one server takes
// for a model call must not look like something else to us.
func plainPath(u *url.URL) bool {
	escaped := strings.ToLower(u.EscapedPath())
	for _, bad := range []string{"%2f", "%5c", "%25", "%00", "%2e", "%3b", "%3f", "%23"} {
		if strings.Contains(escaped, bad) {
			return false
		}
	}
	if strings.ContainsAny(u.Path, "\\;?#") || strings.ContainsFunc(u.Path, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return false
	}
	clean := path.Clean(u.Path)
	return u.Path == clean || u.Path == clean+"/"
}

// routeOf reads a path below an upstream. What is judged goes by how the path ends, because
// compatible servers put it below prefixes of their own; what passes is named. Case and a
// slash at the end change nothing.
func routeOf(r *http.Request, rest string) route {
	parts := strings.Split(strings.Trim(strings.ToLower(rest), "/"), "/")
	if wantsSocket(r) && parts[len(parts)-1] == "responses" {
		return route{way: judged, api: format.Responses, socket: true}
	}
	if upgrades(r) {
		return route{why: whyLive, locked: true}
	}
	if call, ok := cloudCallOf(rest); ok {
		return cloudRoute(r.Method, call)
	}
	if model, verb, ok := geminiVerb(rest); ok && (r.Method != http.MethodGet || geminiVerbs[verb] != 0) {
		return geminiRoute(r, parts, model, verb)
	}
	last := parts[len(parts)-1]
	post := r.Method == http.MethodPost
	switch {
	case ends(parts, "chat", "completions"):
		return asked(post, format.Chat)
	case ends(parts, "api", "chat"):
		return asked(post, format.Ollama)
	case last == "responses":
		return asked(post, format.Responses)
	case last == "messages" && !slices.Contains(parts, "threads"):
		return asked(post, format.Messages)
	}
	if api, tail := below(parts); api != format.None {
		return belowRoute(r.Method, api, tail)
	}
	if len(parts) > 2 && parts[len(parts)-2] == "deferred-completion" && r.Method == http.MethodGet {
		return route{way: recalled, api: format.Chat}
	}
	return passRoute(r.Method, parts)
}

// passRoute is the way of what is not judged: it passes where it is known, and else not.
func passRoute(method string, parts []string) route {
	if method == http.MethodHead { // its answer has no body
		return route{way: through}
	}
	about := resource(parts)
	switch {
	case method == http.MethodPost && ends(parts, "api", "generate"):
		return route{way: through, texts: format.Ollama, events: true}
	case method == http.MethodPost && len(about) == 1 && (about[0] == "completions" || about[0] == "complete"):
		return route{way: through, texts: format.Chat, events: true} // older texts have the same envelope
	case method == http.MethodPost && about[0] == "conversations" && len(about) <= 2: // another provider runs a model there
		return route{
			way: through, why: whyAgents,
			members: []string{"items", "metadata"}, answers: []string{"id", "object", "created_at", "metadata"},
		}
	}
	if p, ok := passing(method, parts); ok {
		return route{way: through, events: p.events, plain: p.plain, list: p.plain && method == http.MethodGet}
	}
	return route{why: unjudged(parts)}
}

func asked(post bool, api format.API) route {
	if !post {
		return route{api: api, why: whyMethod}
	}
	return route{way: judged, api: api}
}

func ends(parts []string, tail ...string) bool {
	return len(parts) >= len(tail) && slices.Equal(parts[len(parts)-len(tail):], tail)
}

// below finds paths under one of the APIs: /responses/{id}, /messages/count_tokens.
func below(parts []string) (format.API, []string) {
	for i, p := range parts {
		switch {
		case p == "completions" && i > 0 && parts[i-1] == "chat":
			return format.Chat, parts[i+1:]
		case p == "responses":
			return format.Responses, parts[i+1:]
		case p == "messages" && !slices.Contains(parts[:i], "threads"):
			return format.Messages, parts[i+1:]
		}
	}
	return format.None, nil
}

// belowRoute says what may be done under an API. An answer made earlier is judged when it
// is fetched; what only counts or deletes passes.
func belowRoute(method string, api format.API, tail []string) route {
	last := tail[len(tail)-1]
	switch {
	case slices.Contains(tail, "batches"):
		return route{api: api, why: whyStored}
	case len(tail) == 1 && (last == "count_tokens" || last == "input_tokens") && method == http.MethodPost:
		return route{way: through, api: api, plain: true}
	case method == http.MethodDelete && len(tail) == 1 && api != format.Messages:
		return route{way: through, api: api}
	case method != http.MethodGet && method != http.MethodPost:
		return route{api: api, why: whyMethod}
	case api == format.Messages:
		return route{api: api, why: whyDialect}
	case last == "input_items" || last == "messages":
		return route{api: api, why: whyItems}
	case len(tail) == 1, len(tail) == 2 && last == "cancel":
		return route{way: recalled, api: api}
	}
	return route{api: api, why: whyDialect}
}

// geminiVerb splits …/models/{model}:{verb}.
func geminiVerb(rest string) (model, verb string, ok bool) {
	i := strings.LastIndexByte(rest, '/')
	model, verb, ok = strings.Cut(rest[i+1:], ":")
	return model, strings.ToLower(strings.TrimSuffix(verb, "/")), ok
}

// geminiVerbs are what may stand behind the colon, and whether something else than POST may
// ask for it.
var geminiVerbs = map[string]way{
	"generatecontent": judged, "streamgeneratecontent": judged, "rawpredict": judged, "streamrawpredict": judged,
	"counttokens": through, "computetokens": through, "embedcontent": through, "batchembedcontents": through, "embedtext": through,
	"predict": through, "predictlongrunning": through, "fetchpredictoperation": through,
	"download": through, "cancel": through, "importfile": through, "uploadtofilesearchstore": through,
}

func geminiRoute(r *http.Request, parts []string, model, verb string) route {
	method, out := r.Method, route{api: format.Gemini, inPath: true, model: model, why: whyDialect}
	if version.MatchString(model) && strings.HasSuffix(model, "internal") {
		return codeAssistRoute(r, verb)
	}
	switch out.way = geminiVerbs[verb]; {
	case out.way == judged && method != http.MethodPost:
		out.way, out.why = refuse, whyMethod
	case strings.HasSuffix(verb, "rawpredict"):
		return publisherRoute(parts, out)
	case out.way == judged:
		out.stream = verb == "streamgeneratecontent"
		out.array = out.stream && r.URL.Query().Get("alt") != "sse"
	case verb == "predict" && slices.Contains(parts, "endpoints"):
		out.way = refuse // a model of one's own may speak any format there
	case out.way == through:
		out.plain = method == http.MethodPost && (strings.HasSuffix(verb, "tokens") || strings.Contains(verb, "embed"))
	}
	return out
}

// cloudRoute is what such a path means.
func cloudRoute(method string, c cloudCall) route {
	out := route{way: judged, api: format.Messages, inPath: true, model: c.model, cloud: c}
	switch c.verb {
	case "invoke":
		out.hosted = true
	case "invoke-with-response-stream":
		out.hosted, out.stream, out.frames = true, true, eventstream.Chunks
	case "count-tokens":
		out.way, out.plain = through, true
	case "converse":
		out.api = format.Converse
	case "converse-stream":
		out.api, out.stream, out.frames = format.Converse, true, eventstream.Typed
	}
	if method != http.MethodPost {
		return route{api: out.api, why: whyMethod}
	}
	return out
}

// publisherRoute is what asking a model of another maker on Vertex means: its maker's own format.
func publisherRoute(parts []string, out route) route {
	i := slices.Index(parts, "publishers")
	if i < 0 || i+1 >= len(parts) {
		out.way = refuse
		return out
	}
	switch maker := parts[i+1]; {
	case maker == "anthropic" && out.model == "count-tokens":
		out.api, out.way, out.plain = format.Messages, through, true
	case maker == "anthropic":
		out.api, out.hosted = format.Messages, true
	case maker == "mistralai":
		out.api = format.Chat
	default:
		out.way = refuse
	}
	return out
}

// codeAssistVerbs are what those who signed in with Google ask besides a model: who they are, what they
// may use, what they use.
var codeAssistVerbs = map[string]bool{
	"counttokens": true, "loadcodeassist": true, "onboarduser": true, "listexperiments": true, "retrieveuserquota": true,
	"getcodeassistglobalusersetting": true, "setcodeassistglobalusersetting": true, "recordcodeassistmetrics": true,
	"fetchadmincontrols": true, "recordclientevent": true,
}

// codeAssistRoute is what a path means on which a version stands before the colon.
func codeAssistRoute(r *http.Request, verb string) route {
	out := route{api: format.CodeAssist, why: whyDialect}
	switch {
	case r.Method != http.MethodPost:
		out.why = whyMethod
	case verb == "generatecontent", verb == "streamgeneratecontent":
		out.way, out.inPath, out.wrapped = judged, true, true
		out.stream = verb == "streamgeneratecontent"
		out.array = out.stream && r.URL.Query().Get("alt") != "sse"
	case codeAssistVerbs[verb]:
		out.way, out.plain = through, verb == "counttokens"
	}
	return out
}

// unjudged says why a path is refused that is not known to carry no calls.
func unjudged(parts []string) string {
	for _, p := range parts {
		switch p {
		case "realtime", "live", "ws":
			return whyLive
		case "runs", "threads", "assistants", "batches", "batch", "batchjobs", "cachedcontents", "prompts":
			return whyStored
		case "items":
			return whyItems
		case "sessions", "environments", "deployments", "agents", "conversations", "interactions":
			return whyAgents
		case "deferred-completion", "chatcompletion_v2", "chatcompletion_pro", "async-invoke", "chat", "generate":
			return whyDialect
		}
	}
	return whyUnknown
}

// upgrades reports whether the client wants to leave HTTP. One that would also speak
// HTTP/2, as some do with every request in the clear, may as well go on with what it has.
func upgrades(r *http.Request) bool {
	if r.Method == http.MethodConnect {
		return true
	}
	wanted := strings.Split(strings.ToLower(strings.Join(r.Header["Upgrade"], ",")), ",")
	for _, to := range wanted {
		if to = strings.TrimSpace(to); to != "" && to != "h2c" {
			return true
		}
	}
	asks := strings.Contains(strings.ToLower(strings.Join(r.Header["Connection"], ",")), "upgrade")
	return asks && len(r.Header["Upgrade"]) == 0
}

// lost is the format of a request for a model that names no upstream there is.
func lost(path string) format.API {
	parts := strings.Split(strings.Trim(strings.ToLower(path), "/"), "/")
	model, verb, _ := geminiVerb(path)
	switch {
	case model != "" && geminiVerbs[verb] == judged:
		return format.Gemini
	case ends(parts, "v1", "messages"):
		return format.Messages
	case ends(parts, "v1", "responses"):
		return format.Responses
	case ends(parts, "chat", "completions"), parts[0] == "llm":
		return format.Chat
	}
	return format.None
}
