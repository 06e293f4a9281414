// Package edge is where a server meets its clients as its settings say: listener and certificate, keys, what bodies may
// take in memory, metrics of the process, and the log.
package edge
