// Package frame carries messages of any bytes over a connection between processes of one machine, and open files with them. It does
// I/O and knows nothing of what is said.
package frame
