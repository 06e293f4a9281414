// Package session reads and writes the session files of Claude Code, Codex and pi, from which these agents go on.
//
// Each agent has a parser and a client. The parser says which lines hold messages; a view that only changes texts is
// written by editing these lines. Where lines come or go, the client writes a new file in the way in which the agent
// itself writes down a compaction.
package session
