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
	return Unquote(v)
}
