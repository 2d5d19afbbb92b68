package warrant_test

import "testing"

// A manifest names packages where it says what is needed, and nowhere else; of a folder for the
// works of others, it names none.
func TestPackagesThatAManifestNames(t *testing.T) {
	for _, c := range []struct {
		name, file, text, install string
		named                     bool
	}{
		{"a dependency", "package.json", `{"name":"boats","dependencies":{"oak-glue":"^1"}}`, "npm install oak-glue", true},
		{"one that is shown with counted lines", "package.json", "     1→{\n     2→  \"devDependencies\": {\n     3→    \"oak-glue\": \"^1\"\n     4→  }\n     5→}", "npm install oak-glue", true},
		{"a word of the description", "package.json", `{"description":"see oak-glue","dependencies":{"birch":"^1"}}`, "npm install oak-glue", false},
		{"a command among its scripts", "package.json", `{"scripts":{"oak-glue":"x"},"dependencies":{}}`, "npm install oak-glue", false},
		{"one of somebody else's", "node_modules/foo/package.json", `{"dependencies":{"oak-glue":"^1"}}`, "npm install oak-glue", false},
		{"one in a hidden folder", ".cache/foo/package.json", `{"dependencies":{"oak-glue":"^1"}}`, "npm install oak-glue", false},
		{"a requirement", "requirements.txt", "# oak-lye\noak-glue>=1.2\n", "pip install oak-glue", true},
		{"a remark among requirements", "requirements.txt", "# oak-lye\noak-glue>=1.2\n", "pip install oak-lye", false},
		{"a list of a project", "pyproject.toml", "[project]\nname = \"boats\"\ndependencies = [\n  \"oak-glue[fast]>=1\",\n]\n", "pip install oak-glue", true},
		{"the description of a project", "pyproject.toml", "[project]\ndescription = \"oak-glue\"\ndependencies = []\n", "pip install oak-glue", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := desk("Fix the boats")
			read(x, "fetch_page", `{"url":"https://wood.example/b"}`, "Boats are built of oak.")
			read(x, "read_file", `{"path":`+quote(c.file)+`}`, c.text)
			if got := !asked(runs(x, c.install)); got != c.named {
				t.Errorf("%s unasked: %v, want %v", c.install, got, c.named)
			}
		})
	}
}
