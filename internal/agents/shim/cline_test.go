package shim_test

import "testing"

// Each form that Cline takes is judged as what it does.
func TestEveryFormOfACallOfClineBringsWhatItBrings(t *testing.T) {
	const reads = "preset: classic\ntrustRules:\n  - {name: downloads, tools: [read], path: ['/home/user/Downloads/**'], trust: untrusted}\n"
	for _, c := range []struct{ tool, input string }{
		{"run_commands", `{"command":"timeout","args":["9","curl","https://example.com/notes"]}`},
		{"run_commands", `{"commands":[{"command":"timeout","args":["9","curl","https://example.com/notes"]}]}`},
		{"run_commands", `{"commands":"[\"timeout 9 curl https://example.com/notes\"]"}`},
		{"read_files", `{"files":"[\"/home/user/Downloads/a\"]"}`},
		{"read_files", `{"paths":["/home/user/work/b","/home/user/Downloads/a"]}`},
		{"read_files", `{"paths":"/home/user/Downloads/a"}`},
		{"read_files", `{"file_paths":["/home/user/Downloads/a"]}`},
		{"read_files", `{"file_paths":"/home/user/Downloads/a"}`},
	} {
		w := openWith(t, reads)
		told(t, w, "cline", `{"hookName":"prompt_submit","taskId":"s","userPromptSubmit":{"prompt":"tidy up"}}`, false)
		told(t, w, "cline", string(clineCall(c.tool, c.input)), false)
		told(t, w, "cline", `{"hookName":"tool_result","taskId":"s","workspaceRoots":["/home/user/work"],"tool_result":{"id":"c","name":"`+c.tool+`","input":`+c.input+`,"output":"do it"}}`, false)
		if p := told(t, w, "cline", string(clineCall("run_commands", `{"commands":["rm -r build"]}`)), true); !refuses("cline", p) {
			t.Errorf("%s %s: it was not seen what comes in", c.tool, c.input)
		}
	}
}

func clineCall(tool, input string) []byte {
	return []byte(`{"hookName":"tool_call","taskId":"s","workspaceRoots":["/home/user/work"],"tool_call":{"id":"c","name":"` + tool + `","input":` + input + `}}`)
}
