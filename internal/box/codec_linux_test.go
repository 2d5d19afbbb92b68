package box

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// Arguments and paths come through as the bytes they are.
func TestPropertyAMessageComesThroughAsItIs(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes")) })
	rapid.Check(t, func(t *rapid.T) {
		m := message{
			ID: rapid.Int().Draw(t, "id"), Args: rapid.SliceOfN(text, 1, 4).Draw(t, "args"), Dir: text.Draw(t, "dir"), Fault: text.Draw(t, "fault"),
			Plan: &plan{Root: text.Draw(t, "root"), Steps: []step{{From: text.Draw(t, "from"), To: text.Draw(t, "to")}}},
		}
		body, err := encode(&m)
		if err != nil {
			t.Fatal(err)
		}
		var got message
		if err := decode(body, &got); err != nil || !reflect.DeepEqual(got, m) {
			t.Fatalf("got %+v, %v; want %+v", got, err, m)
		}
	})
}
