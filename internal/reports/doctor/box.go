package doctor

import "context"

// BoxRow is one promise of the box that was tried from inside.
type BoxRow struct {
	Name string
	Held bool
	Text string
	Help string
	// Reduced says that the box was made without namespaces.
	Reduced bool
}

// CheckBox looks whether a box can be made here and keeps its promises. Where none can be made commands are asked about, so nothing is
// open because of it.
func CheckBox(try func() ([]BoxRow, error)) Check {
	return Check{Name: "box", Run: func(context.Context) []Finding {
		f := found{about: "box"}
		rows, err := try()
		if err != nil {
			f.add(Broken, "box", line(err.Error()), "tidemark run -- true says more")
			return f.list
		}
		for i, r := range rows {
			switch {
			case r.Held && r.Reduced: // agents' commands are asked about, as without a box
				f.add(Limit, r.Name, r.Text, r.Help)
			case r.Held:
				f.add(Good, r.Name, r.Text, "")
			case i == 0: // there is none
				f.add(Limit, r.Name, r.Text, r.Help)
			default:
				f.add(Broken, r.Name, r.Text, "do not let agents run commands in boxes here, and tell us which system this is")
			}
		}
		return f.list
	}}
}
