// Package export reads exports and logs, which no agent goes on from: a view of one cannot be written.
package export
