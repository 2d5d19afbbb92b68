//go:build !linux

package boxtest

import "errors"

// NoNamespaces refuses: there are none on this system.
func NoNamespaces() error { return errors.New("there are no namespaces to refuse") }
