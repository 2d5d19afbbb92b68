package app

// Paced is for tests.
var Paced = paced
