// Package format knows the formats in which clients and models speak: OpenAI Chat
// Completions, OpenAI Responses, Anthropic Messages, Gemini generateContent, Amazon's Converse. What is
// particular to one of them stands in the files that begin with its name, and is bound
// together in its dialect.
//
// A request repeats the whole conversation, and nearly all of it was there the last time.
// So bytes that were read before are recognised by their hash and not read again: what a
// request costs follows what is new in it.
//
// Invariants:
//   - what is not understood is kept byte for byte; an edit splices, it never re-encodes;
//   - the zero Role and the zero Kind are things nobody knows, which callers distrust;
//   - a body with a key twice, invalid UTF-8 or a wrong type where a message, a tool or a
//     call would be is an error: two readers could understand it differently;
//   - in an answer, no byte of a call is written before the Judge has allowed the call.
//
// The package does no I/O and starts nothing.
package format

import "github.com/tidemark/tidemark/tool"

// Role says who a message is from. The zero Role is nobody we know.
type Role uint8

// The roles.
const (
	Unknown Role = iota
	System       // the client's own instructions
	User
	Assistant
	ToolRole // a message of nothing but results
)

// role maps what the formats call a speaker.
func role(name string) Role {
	switch name {
	case "system", "developer":
		return System
	case "user":
		return User
	case "assistant", "model":
		return Assistant
	case "tool", "function":
		return ToolRole
	}
	return Unknown
}

// Kind says what a part of a message is. The zero Kind is something we do not understand.
type Kind uint8

// The kinds of parts.
const (
	Other    Kind = iota
	Text          // plain text
	Thinking      // the model's own reasoning; Text is it, or its sealed form
	Call          // a tool the client is to run
	Result        // what came back from one
	Hosted        // a tool that the provider ran, or its result: content from outside
	Media         // an image, a file, audio
	Stored        // something that the provider keeps; CallID names it
	Approval      // the client's answer to a call that the provider runs: Args is true or false, Text is why
)

// Part is one piece of a message, decoded.
type Part struct {
	Kind   Kind
	Text   string // of Text, Thinking, Hosted and Media as far as they have one; of Result all text in it, joined by line feeds
	CallID string // of Call, Result, Stored and Approval
	Name   string // of Call, of Hosted, and of Result where the format repeats it
	// Args of a Call are the exact bytes of the JSON object, or of whatever a model wrote in
	// its place; of a call with free text {"input":…}.
	Args  []byte
	Error bool   // of Result: the client says that the tool failed
	URL   string // of Media: where the provider fetches it from; "" where it is in the request, or lies with the provider
	// Mark is what Hosted and Media are known by when they come back: it stands for what is in
	// them, without the ids and states that clients leave out.
	Mark tool.Digest
}

// Message is one entry of the conversation. Start and End are its bytes in the body; a
// message that is a member of its own (Anthropic's system, Gemini's systemInstruction,
// Responses' instructions) has them too.
type Message struct {
	Role       Role
	Parts      []Part
	Start, End int
}

// Tool is a tool the model is offered.
type Tool struct {
	Name, Description string
	Schema            []byte // JSON Schema of the parameters; nil where there is none
	Hosted            bool   // the provider runs it, the client never sees a call
	Sealed            bool   // and what it gives is made of nothing but the conversation: it reaches nothing outside
}

// Hints are what a request says about where it belongs. Nothing of it is trusted beyond
// telling conversations of one client apart.
type Hints struct {
	User     string            // OpenAI user, safety_identifier
	CacheKey string            // OpenAI prompt_cache_key
	Metadata map[string]string // OpenAI metadata, Anthropic metadata (user_id), Gemini labels
	Previous string            // Responses: previous_response_id, or the conversation's id
	Lasting  bool              // Previous is a conversation's: what was said in it once stays
	Version  string            // Anthropic's anthropic_version, where the body is for a platform that others run
}
