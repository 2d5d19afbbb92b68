package graph

// BuilderAfter makes a builder for the next turn of a branch that has a past.
var BuilderAfter = builderAfter
