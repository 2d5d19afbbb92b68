package proxy_test

import (
	"fmt"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func decode(t *testing.T, body string, v any) {
	t.Helper()
	if err := strictjson.Unmarshal([]byte(body), v); err != nil {
		t.Fatalf("decode %s: %v", body, err)
	}
}

func assistant(text string) string {
	return fmt.Sprintf(`{"role":"assistant","content":%q}`, text)
}
