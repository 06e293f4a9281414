// Package front is what servers that strangers can reach have in common, as the settings have it: listeners, certificate,
// keys, limits of time, of connections and of memory, readiness, and how they end.
package front
