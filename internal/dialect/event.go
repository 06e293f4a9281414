package dialect

import "github.com/decantdev/decant/internal/jsonspan"

// KindOfEvent returns what kind of event of a stream data is: its name or, where a server names none, its type. Server-sent
// events without a name are named "message", and some servers name all of theirs so.
func KindOfEvent(name, data []byte) string {
	if string(name) != "message" || jsonspan.Validate(data) != nil || len(data) == 0 || data[0] != '{' {
		return string(name)
	}
	return jsonspan.MemberText(data, "type")
}
