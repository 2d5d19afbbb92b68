// Package fileowner says whose a file is, and whether others can get at it.
package fileowner
