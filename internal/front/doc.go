// Package front is what servers that strangers can reach have in common: how long they wait for a client, and
// how many they let in.
package front
