package mandate

// A decision has a budget of work, counted in steps and never timed, so that it is the same on every machine: a record
// that is looked at, and two that are compared, field by field. It grows with what is remembered and with what is
// called, no faster than either. What takes more is too large to judge.
const (
	leastWork  = 1 << 20 // steps that any decision may take
	recordWork = 256     // for each record that is remembered
	byteWork   = 64      // for each byte of the arguments
)

// work is what the decision at hand has taken of its budget.
type work struct{ took, most int }

// Begin gives the next decision its budget, by the length of the arguments that it is about.
func (r *Records) Begin(args int) {
	*r.work = work{most: leastWork + recordWork*len(r.all) + byteWork*args}
}

// Took is how many steps were taken since Begin.
func (r *Records) Took() int { return r.work.took }

// Spent reports whether more was taken than there was: then no answer counts.
func (r *Records) Spent() bool { return r.work.took > r.work.most }

// takes counts steps, and reports whether there were so many left.
func (r *Records) takes(n int) bool {
	r.work.took += n
	return r.work.took <= r.work.most
}
