package proxy

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

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
}

// route is what a path means.
type route struct {
	way    way
	api    format.API
	inPath bool   // the model and whether to stream are said by the path, not by the body
	model  string // then
	stream bool   // likewise
	array  bool   // and the stream is to be a JSON array
	list   bool   // asks for the list of models
	plain  bool   // asks for nothing but that, a count or an embedding
	why    string // of a refusal
}

const (
	whyLive    = "connections that stay open (realtime, live, websocket) are not served: their tool calls cannot be judged here"
	whyStored  = "runs, assistants, threads, batches and stored prompts are not served: their tool calls cannot be judged here"
	whyDialect = "this API can carry tool calls and is not one that can be judged here; " + whyInstead
	whyInstead = "use chat completions, responses, messages or generateContent"
	whyItems   = "lists of what was said are not served: they hold tool calls in a form that is not judged here"
	whyPath    = "the path is not written plainly"
	whyMethod  = "this method is not served here"
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

// routeOf reads a path below an upstream. It goes by how paths end, because compatible
// servers put them below prefixes of their own; case and a slash at the end change nothing.
func routeOf(r *http.Request, rest string) route {
	if upgrades(r) {
		return route{why: whyLive}
	}
	parts := strings.Split(strings.Trim(strings.ToLower(rest), "/"), "/")
	if model, verb, ok := geminiVerb(rest); ok {
		return geminiRoute(r, model, verb)
	}
	last := parts[len(parts)-1]
	post := r.Method == http.MethodPost
	switch {
	case ends(parts, "chat", "completions"):
		return asked(post, format.Chat)
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
	if why := unjudged(parts, r.Method); why != "" {
		return route{why: why}
	}
	list := lists(r.Method, parts)
	return route{way: through, list: list, plain: list || post && last == "embeddings"}
}

// lists reports whether a path is that of the models there are, or of one of them.
func lists(method string, parts []string) bool {
	n := len(parts)
	return method == http.MethodGet && (parts[n-1] == "models" || n > 1 && parts[n-2] == "models")
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
	case last == "count_tokens" || last == "input_tokens":
		return route{way: through, api: api, plain: method == http.MethodPost}
	case method == http.MethodDelete:
		return route{way: through, api: api}
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

func geminiRoute(r *http.Request, model, verb string) route {
	method, out := r.Method, route{api: format.Gemini, inPath: true, model: model}
	switch verb {
	case "generatecontent", "streamgeneratecontent":
		if method != http.MethodPost {
			out.why = whyMethod
			return out
		}
		out.way, out.stream = judged, verb == "streamgeneratecontent"
		out.array = out.stream && r.URL.Query().Get("alt") != "sse"
	case "counttokens", "embedcontent", "batchembedcontents", "embedtext", "computetokens":
		out.way, out.plain = through, method == http.MethodPost
	case "predict", "predictlongrunning", "download", "cancel":
		out.way = through
	default:
		out.why = whyDialect
	}
	return out
}

// unjudged are the words in a path that lead to tool calls in a form we do not read.
func unjudged(parts []string, method string) string {
	changes := method != http.MethodGet && method != http.MethodHead && method != http.MethodDelete
	for i, p := range parts {
		switch p {
		case "realtime", "live", "ws":
			return whyLive
		case "runs", "threads", "assistants", "batches", "batch", "batchjobs":
			return whyStored
		case "cachedcontents", "prompts":
			if changes {
				return whyStored // a context nobody here would see
			}
		case "conversations":
			if slices.Contains(parts[i:], "items") && method != http.MethodDelete {
				return whyItems
			}
		case "deferred-completion", "chatcompletion_v2", "chatcompletion_pro":
			return whyDialect
		case "interactions", "converse", "converse-stream", "invoke", "invoke-with-response-stream", "agents", "rawpredict":
			return whyDialect
		case "chat", "generate":
			if i == len(parts)-1 && changes {
				return whyDialect
			}
		case "complete", "completions":
			if i == len(parts)-1 && i > 0 && parts[i-1] == "chat" {
				return whyDialect
			}
		}
	}
	return ""
}

// upgrades reports whether the client wants to leave HTTP.
func upgrades(r *http.Request) bool {
	return r.Header.Get("Upgrade") != "" || r.Method == http.MethodConnect ||
		strings.Contains(strings.ToLower(strings.Join(r.Header["Connection"], ",")), "upgrade")
}
