// Package killtest kills processes in the middle of their work, wherever a test wants it, and says what had come of it.
//
// The process is the test's own program, which finds in its environment that it is there to be killed.
package killtest
