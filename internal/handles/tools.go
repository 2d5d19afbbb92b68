package handles

import (
	"context"
	"errors"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/extract"
)

// The tools by which agents get something of what is kept. They are answered by whoever keeps it and run nowhere else.
const (
	ExtractTool = engine.ExtractTool
	ShowTool    = "tidemark_show"
)

// IsTool reports whether a tool is one of those.
func IsTool(name string) bool { return name == ExtractTool || name == ShowTool }

// Answer is what such a tool says.
type Answer struct {
	Text   string `json:"text" doc:"the value as JSON, all of the text, or why nothing came out"`
	Failed bool   `json:"failed,omitzero" doc:"it is why nothing came out"`
}

// Answer answers a call of one of those tools. An error is one of the log's; whatever else is wrong is the answer.
func (d *Desk) Answer(ctx context.Context, ref engine.Ref, name string, args []byte) (*Answer, error) {
	var in struct {
		Handle   string           `json:"handle"`
		Question string           `json:"question"`
		Shape    strictjson.Value `json:"shape"`
	}
	if err := strictjson.UnmarshalKnown(args, &in); err != nil {
		return &Answer{"The arguments cannot be read: " + err.Error() + ".", true}, nil
	}
	var text string
	var err error
	if name == ShowTool {
		text, err = d.Show(ctx, ref, in.Handle)
	} else {
		text, err = d.extract(ctx, ref, in.Handle, in.Question, in.Shape)
	}
	switch {
	case errors.Is(err, engine.ErrUnavailable) || errors.Is(err, context.Canceled):
		return nil, err
	case err != nil:
		return &Answer{"Nothing came out: " + err.Error() + ".", true}, nil
	}
	return &Answer{Text: text}, nil
}

func (d *Desk) extract(ctx context.Context, ref engine.Ref, handle, question string, shape []byte) (string, error) {
	s, err := extract.ReadShape(shape)
	if err != nil {
		return "", err
	}
	return d.Extract(ctx, ref, handle, question, &s)
}
