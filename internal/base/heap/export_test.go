package heap

// Machine is machine, for tests.
var Machine = machine
