// Package jsonedit finds, edits and writes JSON values, where they stand in a source.
//
// A change is a list of edits, each of which replaces a span of the source by other bytes. What no edit names stays
// as it is, byte for byte: key order, spacing and unknown members included.
package jsonedit
