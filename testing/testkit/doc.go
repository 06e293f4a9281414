// Package testkit has what tests of many packages need: how deep they go, waiting without limits of time that a busy machine
// breaks, logs that tests read, certificates, and whether work grows in proportion to its input.
package testkit
