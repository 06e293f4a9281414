// Package session reads the files that agents keep of their sessions. It writes those of Claude Code, Codex and pi,
// from which these agents resume; exports and logs of Copilot CLI, Gemini CLI and opencode are only read.
//
// Each agent has a parser and a client. The parser says which lines hold messages; a view that only changes texts is
// written by editing these lines. Where lines come or go, the client writes a new file in the way in which the agent
// itself writes down a compaction.
package session
