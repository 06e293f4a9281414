// Package notes is what an engine keeps in memory of a conversation beside what is stored: what is known of its size and
// of its provider's cache, and what was planned for requests that were only observed.
package notes
