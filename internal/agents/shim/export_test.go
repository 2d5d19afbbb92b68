package shim

// Ancestors are those of this process.
var Ancestors = ancestors
