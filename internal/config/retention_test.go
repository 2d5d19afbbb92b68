package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/retention"
)

func TestRetentionIsRead(t *testing.T) {
	const file = `
retention:
  content: {days: 30, megabytes: 2000}
  events: {days: 400}
  everyHours: 6
`
	c, faults := config.Parse("tidemark.yaml", []byte(file), func(string) (string, bool) { return "", false })
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	want := config.Retention{Every: 6 * time.Hour, Limits: retention.Limits{
		event.PruneContent: {Age: 30 * 24 * time.Hour, Bytes: 2000 << 20}, event.PruneEvents: {Age: 400 * 24 * time.Hour},
	}}
	if diff := cmp.Diff(want, c.Retention); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c, _ = config.Parse("tidemark.yaml", nil, func(string) (string, bool) { return "", false })
	if len(c.Retention.Limits) != 0 {
		t.Errorf("without the section: %+v, want everything kept", c.Retention)
	}
	for _, bad := range []string{"retention: {content: {days: 0}}", "retention: {content: 30d}", "retention: {everything: {days: 1}}", "retention: {everyHours: 0}"} {
		if _, faults := config.Parse("tidemark.yaml", []byte(bad), func(string) (string, bool) { return "", false }); faults.Err() == nil {
			t.Errorf("%s: got no fault", bad)
		}
	}
}
