package uuid_test

import (
	"regexp"
	"testing"

	"github.com/tidemark/tidemark/internal/base/uuid"
)

func TestItIsOfVersionFourAndNew(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := uuid.New()
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("got %s", id)
		}
		seen[id] = true
	}
}
