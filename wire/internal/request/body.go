package request

import (
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// A Body is the layout of a request, with what the request that comes after it may take over.
type Body struct {
	render.Body

	// Of a request of the Messages API:
	read    decant.Conversation // as it was read, whatever the caller does to the document's
	members []member            // of the request, in order; nil: see topMembers
	system  []source.BlockSpan  // of the blocks of the system prompt; without span for a bare string
	tools   []jsonspan.Span     // the definitions of the tools
	twice   bool                // a message holds its content twice
}

// document ends the construction of a document with the layout.
func (l Body) document(b *source.Builder) *source.Document {
	d := b.Document(&l)
	l.Spans, l.read = b.Spans, b.Conv
	return d
}

// fix reads the list of tools and gives the fixed part its version. It comes after the system prompt.
func fix(b *source.Builder, tools jsonspan.Span) {
	b.Tools(tools)
	b.Conv.Fixed.Version = source.Version(&b.Conv.Fixed)
}

// validObject returns src without a byte order mark, and an error when it is not one JSON object.
func validObject(src []byte) ([]byte, error) {
	src, err := source.Valid(src)
	if err != nil {
		return nil, err
	}
	if sc := jsonspan.Scan(src, 0); sc.Kind() != '{' {
		return nil, source.FieldError(sc.Pos(), "body", "want a JSON object")
	}
	return src, nil
}

// sessionOf returns the session's id in the user id that a client sends as metadata: Claude Code puts
// an object with a session_id there, and in older versions a text that ends with it.
func sessionOf(user string) string {
	if _, id, ok := strings.Cut(user, "_session_"); ok {
		return id
	}
	src := []byte(user)
	if jsonspan.Validate(src) != nil {
		return ""
	}
	return jsonspan.MemberText(src, "session_id")
}

// integer returns the integer that raw is, 0 when it is none.
func integer(raw []byte) int {
	n, err := strconv.Atoi(string(raw))
	if err != nil {
		return 0
	}
	return n
}
