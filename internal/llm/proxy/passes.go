package proxy

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// What passes unjudged is named here, path by path: its answers are known to carry no tool
// calls. Everything that is not named, and not judged, is refused; an operator who knows
// better vouches for a path (llm.upstreams.<name>.passPaths).

// pass is a path that carries no calls. In it {} stands for one part and ** for the rest.
type pass struct {
	methods string // joined by blanks
	path    string
	events  bool // its answer may be a stream
	plain   bool // it asks for a list of models, a count or an embedding, and reads nothing that was stored
}

const reads, keeps, all = "GET", "GET POST", "GET POST DELETE"

// passes are those paths, below a version and the other prefixes that providers have.
var passes = []pass{
	// Of more than one provider.
	{methods: "GET", path: "models", plain: true},
	{methods: "GET", path: "models/**", plain: true},
	{methods: "DELETE", path: "models/{}"},
	{methods: "POST", path: "embeddings", plain: true},
	{methods: all, path: "files"},
	{methods: all, path: "files/{}"},
	{methods: reads, path: "files/{}/content"},
	{methods: "POST", path: "moderations"},
	{methods: "POST", path: "rerank"},
	{methods: "POST", path: "tokenize"},
	{methods: "POST", path: "detokenize"},

	// OpenAI. What was said in a conversation stands under its items, which are refused.
	{methods: "POST", path: "uploads"},
	{methods: "POST", path: "uploads/{}/{}"},
	{methods: "POST", path: "audio/speech", events: true},
	{methods: "POST", path: "audio/transcriptions", events: true},
	{methods: "POST", path: "audio/translations", events: true},
	{methods: all, path: "audio/voices"},
	{methods: all, path: "audio/voices/{}"},
	{methods: "POST", path: "images/generations", events: true},
	{methods: "POST", path: "images/edits", events: true},
	{methods: "POST", path: "images/variations"},
	{methods: keeps, path: "videos"},
	{methods: all, path: "videos/{}"},
	{methods: keeps, path: "videos/{}/{}"},
	{methods: all, path: "vector_stores"},
	{methods: all, path: "vector_stores/**"},
	{methods: all, path: "containers"},
	{methods: all, path: "containers/**"},
	{methods: keeps, path: "fine_tuning/jobs"},
	{methods: keeps, path: "fine_tuning/jobs/**"},
	{methods: "DELETE", path: "conversations/{}/items/{}"},
	{methods: "GET DELETE", path: "conversations/{}"},

	// Anthropic.
	{methods: all, path: "skills"},
	{methods: all, path: "skills/**"},

	// Gemini, besides what stands behind a colon.
	{methods: reads, path: "operations/{}"},
	{methods: reads, path: "models/{}/operations/{}"},
	{methods: "GET DELETE", path: "cachedcontents"},
	{methods: "GET DELETE", path: "cachedcontents/{}"},
	{methods: "GET DELETE", path: "tunedmodels/**"},
	{methods: all, path: "filesearchstores"},
	{methods: all, path: "filesearchstores/**"},
	{methods: all, path: "upload/{}/files"},
	{methods: "POST PUT", path: "upload/{}/files/{}"},
	{methods: "POST", path: "upload/{}/filesearchstores/{}"},

	// Servers that speak like them: Mistral, xAI, OpenRouter, DeepSeek, vLLM, llama.cpp, Ollama.
	{methods: "POST", path: "ocr"},
	{methods: "POST", path: "classifications"},
	{methods: "POST", path: "chat/moderations"},
	{methods: "POST", path: "chat/classifications"},
	{methods: "POST", path: "tokenize-text"},
	{methods: reads, path: "api-key"},
	{methods: reads, path: "key"},
	{methods: reads, path: "auth/key"},
	{methods: reads, path: "credits"},
	{methods: reads, path: "generation"},
	{methods: reads, path: "providers"},
	{methods: reads, path: "user/balance"},
	{methods: reads, path: "health"},
	{methods: reads, path: "version"},
	{methods: reads, path: "props"},
	{methods: reads, path: "tags"},
	{methods: reads, path: "ps"},
	{methods: "POST", path: "show"},
	{methods: "POST", path: "embed", plain: true},
}

// version is how APIs number themselves in a path.
var version = regexp.MustCompile(`^v[0-9]+[a-z]*[0-9]*$`)

// before are words that stand before a version or after it, and mean nothing by themselves;
// named are those that a name of the client's follows.
var (
	before = []string{"api", "openai", "inference", "compatible-mode"}
	named  = []string{"deployments", "engines", "projects", "locations", "publishers"}
)

// resource is a path without what stands before the thing it is about. Below a version
// deployments are another thing than Azure's.
func resource(parts []string) []string {
	numbered := false
	for len(parts) > 1 {
		switch {
		case version.MatchString(parts[0]):
			numbered, parts = true, parts[1:]
		case slices.Contains(before, parts[0]):
			parts = parts[1:]
		case len(parts) > 2 && slices.Contains(named, parts[0]) && (!numbered || parts[0] != "deployments"):
			parts = parts[2:]
		default:
			return parts
		}
	}
	return parts
}

// passing finds what a path that carries no calls is known as.
func passing(method string, parts []string) (pass, bool) {
	parts = resource(parts)
	for _, p := range passes {
		if slices.Contains(strings.Fields(p.methods), method) && fits(strings.Split(p.path, "/"), parts) {
			return p, true
		}
	}
	return pass{}, false
}

func fits(want, parts []string) bool {
	for i, w := range want {
		switch {
		case i >= len(parts):
			return false
		case w == "**":
			return true
		case w != "{}" && w != parts[i]:
			return false
		}
	}
	return len(want) == len(parts)
}

// vouched is a route that the operator answers for. Whoever wants to leave HTTP does not get
// through by it: nobody could tell what passes then.
func (u *upstream) vouched(r *http.Request, rest string) bool {
	for _, p := range u.PassPaths {
		if p.Match(r.Method, rest) {
			return true
		}
	}
	return false
}
