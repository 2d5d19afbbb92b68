package scenario_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/test/scenario"
	"github.com/tidemark/tidemark/tool"
)

// shelled is the engine of a host that says what hooks say of an agent with every prompt:
// that the model is about to be asked, and has a shell. It sees no more than they do.
type shelled struct{ *scenario.Engine }

func openShelled(w *scenario.World) (scenario.Door, error) {
	d, err := scenario.OpenEngine(w)
	if err != nil {
		return nil, err
	}
	return shelled{d.(*scenario.Engine)}, nil
}

func (d shelled) Begin(ctx context.Context, t tidemark.Turn) (scenario.Outcome, error) {
	o, err := d.Engine.Begin(ctx, t)
	if err != nil {
		return o, err
	}
	shell := []tool.Definition{{Name: "exec"}}
	_, err = d.Engine.Model(ctx, tidemark.ModelCall{Ref: t.Ref, Tools: []string{"exec"}, Definitions: shell})
	return o, err
}

func (shelled) Model(context.Context, tidemark.ModelCall) (scenario.Outcome, error) {
	return scenario.Outcome{}, scenario.ErrUnseen
}

func (shelled) Wants(context.Context, tidemark.ModelReply) (scenario.Outcome, error) {
	return scenario.Outcome{}, scenario.ErrUnseen
}

// A story that hooks tell otherwise because the agent has a shell is judged the same once
// the engine knows of the shell too: the door itself changes no verdict.
func TestHooksJudgeAsTheEngineDoesOnceItKnowsOfTheShell(t *testing.T) {
	all := readAll(t)
	door := doors[slices.IndexFunc(doors, func(d door) bool { return d.name == hooksName })]
	for _, entry := range slices.Sorted(maps.Keys(door.mute)) {
		if door.mute[entry] != hasShell {
			continue
		}
		name, preset, _ := strings.Cut(entry, "/")
		s := all[name]
		want, err := s.Run(t.Context(), scenario.Rig{Preset: preset, Store: openMemory, Door: openShelled})
		if err != nil {
			t.Errorf("%s: %v", entry, err)
			continue
		}
		got, err := played(t, s, preset, door)
		if err != nil {
			t.Errorf("%s: %v", entry, err)
			continue
		}
		for _, diff := range differences(s, door, want.Outcomes, got) {
			t.Errorf("%s: %s", entry, diff)
		}
	}
}
