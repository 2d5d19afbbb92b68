//go:build !judges

package judges_test

// elsewhere is empty without the build tag: only the clients of this module judge then.
type elsewhere struct{ judges []judge }

func openElsewhere() (*elsewhere, error) { return &elsewhere{}, nil }

func (*elsewhere) close() error { return nil }
