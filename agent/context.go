package agent

import "context"

type sessionKey struct{}

// SessionOf returns the session of the run whose context ctx is, nil where it is that of none. A tool or a hook knows by it where what it
// notes comes from: the call that is being made is in the newest of its messages.
func SessionOf(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}
