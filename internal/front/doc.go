// Package front is what servers that strangers can reach have in common: certificate, limits of time and of connections,
// readiness, and how they end. It knows no settings; those of a server are package edge's.
package front
