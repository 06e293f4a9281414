// Package form is what the databases under package store have in common: in what form they keep things, and how they
// read a conversation through its forks.
package form
