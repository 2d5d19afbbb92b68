package tool

import "github.com/tidemark/tidemark/internal/base/strictjson"

// Labels are what the server of a result says of it in `_meta.ifc`, as GitHub's MCP server does. The zero Labels say nothing. They are
// its own words: what they hold against the result counts, and what they say for it only where the policy takes the server's word.
type Labels struct {
	Integrity       string `json:"integrity,omitzero"`       // trusted, untrusted
	Confidentiality string `json:"confidentiality,omitzero"` // public, private
}

// LabelsIn are the labels of a result as MCP servers answer it; none where there are none. One that cannot be read is the worst.
func LabelsIn(result []byte) Labels {
	var r struct {
		Meta struct {
			IFC strictjson.Value `json:"ifc"`
		} `json:"_meta"`
	}
	if len(result) == 0 || result[0] != '{' || strictjson.Unmarshal(result, &r) != nil || len(r.Meta.IFC) == 0 {
		return Labels{}
	}
	return LabelsOf(r.Meta.IFC)
}

// LabelsOf are the labels in the value of `_meta.ifc`.
func LabelsOf(ifc []byte) Labels {
	var l Labels
	if strictjson.Unmarshal(ifc, &l) != nil {
		return Labels{Integrity: "?", Confidentiality: "?"}
	}
	return l
}

// Untrusted reports whether the labels speak against the result: any word for its integrity but the good one.
func (l Labels) Untrusted() bool { return l.Integrity != "" && l.Integrity != "trusted" }

// Private reports whether they keep it from others: any word for its confidentiality but the open one.
func (l Labels) Private() bool { return l.Confidentiality != "" && l.Confidentiality != "public" }

// Public reports whether they say that anybody may read it.
func (l Labels) Public() bool { return l.Confidentiality == "public" }
