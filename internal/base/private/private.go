// Package private says whose a file is, and whether others can get at it.
package private
