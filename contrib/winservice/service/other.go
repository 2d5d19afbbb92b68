//go:build !windows

package service

import (
	"context"
	"errors"
)

var errElsewhere = errors.New("this is not Windows")

// Install cannot be done here.
func (d Definition) Install() error { return errElsewhere }

// Remove cannot be done here.
func (d Definition) Remove() error { return errElsewhere }

// State knows of none.
func (d Definition) State() (installed, running bool, err error) { return false, false, errElsewhere }

// Run does nothing: no program is started as a service of Windows here.
func Run(string, func(ctx context.Context) int) (code int, was bool) { return 0, false }
