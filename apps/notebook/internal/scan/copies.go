package scan

import (
	"slices"
	"time"

	"github.com/decantdev/decant"
)

// identity returns what a message shares with its copies in other sessions and with no other message; "" when the session
// does not name it.
func identity(m *decant.Message) string {
	if m.ID == "" {
		return ""
	}
	return m.ID + " " + m.Time.UTC().Format(time.RFC3339Nano)
}

// Distinct returns sessions without what earlier ones have already: a fork begins with copies of the messages of the
// session that it left, and what was said or done once counts once.
func Distinct(ss []Session) []Session {
	first := map[string]string{} // id of a message → session that has it first
	out := slices.Clone(ss)
	for i := range out {
		s := &out[i]
		copied := func(id string) bool {
			if id == "" {
				return false
			}
			if first[id] == "" {
				first[id] = s.ID
			}
			return first[id] != s.ID
		}
		ended := map[int]bool{} // messages that are copies
		s.said = slices.DeleteFunc(slices.Clone(s.said), func(x sentence) bool { return copied(x.ID) })
		s.calls = slices.DeleteFunc(slices.Clone(s.calls), func(c call) bool {
			ended[c.Message] = copied(c.ID)
			return ended[c.Message]
		})
		s.Tasks = slices.DeleteFunc(slices.Clone(s.Tasks), func(t Task) bool { return ended[t.Last] })
	}
	return out
}
