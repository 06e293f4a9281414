package typed

import "strings"

// Scripted reports whether a program wrote the prompts of a session of Claude Code's, by the entrypoint and the kind of
// session that its lines and requests name: an SDK, `claude -p`, the client's daemon. The client leaves the same sessions
// out of its own list.
func Scripted(entrypoint, kind string) bool {
	return strings.HasPrefix(entrypoint, "sdk-") || kind == "daemon" || kind == "daemon-worker"
}

// Person reports whether the origin that Claude Code names for a text of the user's role is the user: not a peer, a
// channel, a plugin, a background task. A name that is not known is not the user.
func Person(origin string) bool {
	return origin == "" || origin == "human" || origin == "auto-continuation" // of a plan that the user approved
}
