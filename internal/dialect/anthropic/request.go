package anthropic

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

// Parse implements dialect.Requests.
func (Dialect) Parse(body []byte) (*wire.Document, error) {
	doc, err := wire.ParseAs(wire.Anthropic, body)
	if err != nil {
		return nil, err
	}
	if at := doc.Member("thread"); !at.IsZero() && typeOf(body, "thread") == "continue" {
		return doc, fmt.Errorf("thread: %w", dialect.ErrElsewhere)
	}
	return doc, nil
}

// maxSession is the longest session id that is taken for one, in bytes.
const maxSession = 256

// Session implements dialect.Requests. Claude Code writes a JSON object into metadata.user_id, and wrote a
// text that ends with the session before. A user id alone is not a session.
func (Dialect) Session(r *wire.Document) string {
	at := r.Member("metadata")
	if at.IsZero() {
		return ""
	}
	user := jsonspan.MemberText(at.Of(r.Source), "user_id")
	switch {
	case strings.HasPrefix(user, "{") && jsonspan.Validate([]byte(user)) == nil:
		user = jsonspan.MemberText([]byte(user), "session_id")
	default:
		_, user, _ = strings.Cut(user, "_session_")
	}
	if len(user) > maxSession {
		return ""
	}
	return user
}

// Edits implements dialect.Requests.
func (Dialect) Edits(r *wire.Document) dialect.Edits {
	edits := r.Member("context_management").Of(r.Source)
	switch {
	case bytes.Contains(edits, []byte("clear_tool_uses")), bytes.Contains(edits, []byte("compact")):
		return dialect.Clearing
	case !r.Member("compaction").IsZero():
		return dialect.Compaction
	}
	return dialect.NoEdits
}

// Fixed implements dialect.Requests.
func (Dialect) Fixed(r *wire.Document) (system, tools []byte) {
	if at := r.Member("system"); !at.IsZero() {
		system = at.Of(r.Source)
	}
	if at := r.Member("tools"); !at.IsZero() {
		tools = at.Of(r.Source)
	}
	return system, tools
}
