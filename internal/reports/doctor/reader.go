package doctor

import "context"

// Reader is the model that reads what users ask for, as it was tried.
type Reader struct {
	Name    string // "": none reads
	Missing string // why the one that is wanted cannot be asked
	Tried   string // the program and version that was tried on a scripted model; "": it is none
	Faults  []string
}

// CheckReader looks which model reads, and tries a program once more: another version may send what this one does not. Without a model
// more is asked, so nothing is open because of it.
func CheckReader(look func(ctx context.Context) (Reader, error)) Check {
	return Check{Name: "reader", Run: func(ctx context.Context) []Finding {
		f := found{about: "reader"}
		r, err := look(ctx)
		switch {
		case err != nil:
			f.add(Broken, "reader", line(err.Error()), "tidemark model")
		case r.Missing != "":
			f.add(Broken, "reader", line(r.Missing), "until then you are asked more than need be")
		case r.Name == "":
			f.add(Off, "reader", "no model reads what you ask for, so you are asked more than need be", "tidemark model")
		default:
			f.add(Good, "reader", r.Name+" reads what you ask for", "")
		}
		switch {
		case r.Tried != "" && len(r.Faults) == 0:
			f.add(Good, "program", r.Tried+" sends nothing but what it is given", "")
		case r.Tried != "":
			for _, fault := range r.Faults {
				f.add(Broken, "program", r.Tried+": "+line(fault), "it is not asked any more; tidemark model lists others")
			}
		}
		return f.list
	}}
}
