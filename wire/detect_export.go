package wire

import (
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// exportFormat tells which export, log or list of messages the value at an offset is, "" when it is none.
// It looks at the first element of the first list that may hold a conversation, and no further.
func exportFormat(src []byte, at int) Format {
	sc := jsonspan.Scan(src, at)
	switch sc.Kind() {
	case '[':
		return listFormat(src, sc.Pos())
	case '{':
		return memberFormat(src, sc.Pos())
	}
	return ""
}

// memberFormat tells it of an object: by the first element of its messages.
func memberFormat(src []byte, at int) Format {
	sc := jsonspan.Scan(src, at)
	for sc.Open(); sc.Next(); {
		if string(sc.Name()) == "messages" && sc.Kind() == '[' {
			return messagesFormat(src, firstOf(src, sc.Pos()))
		}
		sc.Skip()
	}
	return ""
}

// messagesFormat tells it of an object with messages, of which this is the first; those of request
// bodies have a role.
func messagesFormat(src []byte, first jsonspan.Span) Format {
	switch {
	case has(src, first, "info") && has(src, first, "parts"):
		return Opencode
	case has(src, first, "type") && has(src, first, "id") && !has(src, first, "role"):
		return Gemini
	}
	return ""
}

// listFormat tells whether the list at an offset is one of messages.
func listFormat(src []byte, at int) Format {
	first := firstOf(src, at)
	if has(src, first, "role") && (has(src, first, "content") || has(src, first, "tool_calls")) {
		return Messages
	}
	return ""
}

// firstOf returns the first element of the list at an offset, zero when there is none.
func firstOf(src []byte, at int) jsonspan.Span {
	sc := jsonspan.Scan(src, at)
	if sc.Kind() != '[' {
		return jsonspan.Span{}
	}
	if sc.Open(); sc.Next() {
		return sc.Skip()
	}
	return jsonspan.Span{}
}

// has reports whether the object at v has a member of that name.
func has(src []byte, v jsonspan.Span, name string) bool {
	return !v.IsZero() && !source.Members(src, v, name)[0].IsZero()
}
