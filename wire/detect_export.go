package wire

import (
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/jsonedit"
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

// memberFormat tells it of an object.
func memberFormat(src []byte, at int) Format {
	sc := jsonspan.Scan(src, at)
	for sc.Open(); sc.Next(); {
		name := string(sc.Name())
		list := sc.Kind() == '['
		first := firstOf(src, sc.Pos())
		switch {
		case name == "messages" && list:
			return messagesFormat(src, first)
		case name == "history" && list && has(src, first, "role"):
			return SWEAgent
		case name == "history" && list && event(src, first):
			return OpenHands
		case name == "traj" && list && has(src, first, "role"):
			return TauBench
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

// listFormat tells it of a list: messages, events, or objects that hold them.
func listFormat(src []byte, at int) Format {
	first := firstOf(src, at)
	switch {
	case has(src, first, "role") && (has(src, first, "content") || has(src, first, "tool_calls")):
		return Messages
	case event(src, first):
		return OpenHands
	case has(src, first, "traj"):
		return TauBench
	}
	return ""
}

// event reports whether the object at v is one of OpenHands' events.
func event(src []byte, v jsonspan.Span) bool {
	return has(src, v, "source") && (has(src, v, "action") || has(src, v, "observation"))
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
	return !v.IsZero() && !jsonedit.Members(src, v, name)[0].IsZero()
}
