package format

// API is a format. The zero API is none.
type API uint8

// The formats.
const (
	None       API = iota
	Chat           // OpenAI Chat Completions
	Responses      // OpenAI Responses
	Messages       // Anthropic Messages
	Gemini         // Gemini generateContent and streamGenerateContent
	Converse       // Amazon's Converse and ConverseStream
	Ollama         // Ollama's own chat
	CodeAssist     // Gemini in the envelope of those who signed in with Google
)

// dialect is all that is particular to one format. The zero values are what most do.
type dialect struct {
	name string

	// Of requests.
	list        string                                  // the member that holds the conversation
	unlisted    bool                                    // it may be missing
	streams     bool                                    // it streams unless it is told not to
	camel       bool                                    // keys may come in snake case and are read in camel case
	entry       func(p *parser, at int) Message         // reads an entry of the list
	single      func(p *parser, at int) (Message, bool) // reads what may stand in place of a list; nil: nothing may
	system      string                                  // the member that holds the system prompt; "": the list does
	stored      string                                  // a member that stands for text which the provider holds
	prompt      func(p *parser, at int) []Part          // reads the value of system
	offers      []string                                // the members that offer tools
	tools       func(p *parser, s *toolset, key string) // reads one of them, which is the parser's doc
	hidesHosted bool                                    // answers do not say that the provider ran a tool
	plain       map[string]string                       // the members that bring nothing in, where answers do not say so; nil: they do
	fetchesData bool                                    // some servers fetch data that is an address
	uploaded    func(address string) bool               // an address is a file that lies with the provider; nil: none is

	// Of edits.
	pathModel  bool                                    // the model stands in the path
	keepsEmpty string                                  // a list of tools that stays when it is empty
	block      func(text string) []byte                // a text as a part of the system prompt
	newSystem  func(texts []string) []byte             // texts as the whole of it
	setSystem  func(e *editor, edit Edit)              // changes the system prompt
	noticeIn   func(e *editor, at span, notice string) // puts a notice into a system prompt that is no text; nil: it is a list
	choices    func(e *editor, h *hider)               // repairs what refers to tools that are gone
	settle     func(e *editor, edit *Edit)             // answers calls that the provider waits for; nil: it keeps none
	resultOf   func(text []byte) []byte                // what a result holds that is a text; nil: the text

	// Of answers.
	reader    func() answerReader
	callParts []string // the members that calls are made of, folded, a tool's name first
	array     bool     // a stream may be a JSON array
	lines     bool     // a stream is lines of JSON
	keepAlive string   // a sign of life that clients pass over; "": they know none
	failure   func(out []byte, text []byte, array bool) []byte
	problem   func(status int, text string) any
	errorKind func(status int) string // what an error is called in a header of its own; nil: it is in the body alone
	idPrefix  string                  // of the ids of answers
	keepsID   bool                    // clients go on from an answer by its id
	whole     func(s *Speech) []byte  // a text of ours as an answer
	events    func(s *Speech) []byte  // likewise, as a stream
}

// dialects is the one table of the formats.
var dialects = [...]*dialect{Chat: chatDialect, Responses: responsesDialect, Messages: messagesDialect, Gemini: geminiDialect,
	Converse: converseDialect, Ollama: ollamaDialect, CodeAssist: codeAssistDialect}

func dialectOf(api API) *dialect {
	if int(api) < len(dialects) {
		return dialects[api]
	}
	return nil
}

// HidesHosted reports whether an answer may stand on what tools of the provider's brought
// without a word about it.
func (api API) HidesHosted() bool { d := dialectOf(api); return d != nil && d.hidesHosted }

// String names the format; "other" is none.
func (api API) String() string {
	if d := dialectOf(api); d != nil {
		return d.name
	}
	return "other"
}
