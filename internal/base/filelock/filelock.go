// Package filelock makes a file one process's own for as long as it holds it open. The system
// lets go of it when that process ends, however it ends.
package filelock
