package postgres_test

import (
	"os"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/test/scenario"
)

// SEQ-09: a whole story, with sub-agents whose parents another server has heard, over one database.
func TestAStoryIsToldTheSameByServersOnOneDatabase(t *testing.T) {
	for _, name := range []string{"task-policy", "subagent-inherits-harmless", "subagent-inherits-attack", "approve-text"} {
		t.Run(name, func(t *testing.T) {
			file := "../../../scenarios/" + name + ".txtar"
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := scenario.Parse(file, data)
			if err != nil {
				t.Fatal(err)
			}
			for way, door := range map[string]func(*scenario.World) (scenario.Door, error){
				"restarted": scenario.OpenRestarted, "three servers": scenario.OpenReplicas(name),
			} {
				store := open(t, cluster.New(t))
				report, err := s.Run(t.Context(), scenario.Rig{Store: func() (engine.Store, error) { return store, nil }, Door: door})
				if err != nil {
					t.Fatalf("%s: %v", way, err)
				}
				if err := report.Err(); err != nil {
					t.Errorf("%s: %v", way, err)
				}
			}
		})
	}
}
