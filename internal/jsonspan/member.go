package jsonspan

// Member returns the place of the value of a member of the object that starts at or after offset at in src,
// which is valid JSON: of several members with the name the last one, because that is the one that counts
// where the text is read. It is zero when there is no such member, or the value is no object.
func Member(src []byte, at int, name string) (out Span) {
	s := Scan(src, at)
	if s.Kind() != '{' {
		return out
	}
	for s.Open(); s.Next(); {
		if string(s.Name()) == name {
			out = s.Skip()
			continue
		}
		s.Skip()
	}
	return out
}

// MemberText returns the text of a member that is a string, see Member, or "".
func MemberText(src []byte, name string) string {
	v := Member(src, 0, name).Of(src)
	if len(v) == 0 || v[0] != '"' {
		return ""
	}
	if s, ok := common[string(v)]; ok {
		return s
	}
	return Unquote(v)
}

// common are texts of which each request has many, with their quotes: they are not copied each time.
var common = map[string]string{}

func init() {
	for _, s := range [...]string{"user", "assistant", "system", "developer", "tool", "text", "tool_use", "tool_result", "thinking", "image", "document",
		"message", "input_text", "output_text", "function_call", "function_call_output", "reasoning", "ephemeral", "auto"} {
		common[`"`+s+`"`] = s
	}
}
