package source

import "github.com/decantdev/decant/internal/jsonspan"

// Elements returns the spans of the elements of the array at list, or of the members of the object
// there, names included.
func Elements(src []byte, list jsonspan.Span) []jsonspan.Span {
	var out []jsonspan.Span
	sc := jsonspan.Scan(src, list.Start)
	object := sc.Kind() == '{'
	for sc.Open(); sc.Next(); {
		start := sc.Pos()
		if object {
			sc.Name()
		}
		out = append(out, jsonspan.Span{Start: start, End: sc.Skip().End})
	}
	return out
}

// MemberName returns the name of the member of the object at s whose value is at v, "" when there is none.
func MemberName(src []byte, s, v jsonspan.Span) string {
	sc := jsonspan.Scan(src, s.Start)
	for sc.Open(); sc.Next(); {
		name := string(sc.Name())
		if sc.Skip() == v {
			return name
		}
	}
	return ""
}

// memberNames returns the names of the members of the object at s, in order.
func memberNames(src []byte, s jsonspan.Span) []string {
	var out []string
	sc := jsonspan.Scan(src, s.Start)
	for sc.Open(); sc.Next(); {
		out = append(out, string(sc.Name()))
		sc.Skip()
	}
	return out
}

// Members returns the members of the object at s with the given names, in the order of the names. A
// missing one is zero; of one that stands twice the last counts, as it does for the clients.
func Members(src []byte, v jsonspan.Span, names ...string) []jsonspan.Span {
	out := make([]jsonspan.Span, len(names))
	if v.IsZero() || src[v.Start] != '{' {
		return out
	}
	sc := jsonspan.Scan(src, v.Start)
	for sc.Open(); sc.Next(); {
		name := sc.Name()
		at := sc.Skip()
		for i := range names {
			if string(name) == names[i] {
				out[i] = at
			}
		}
	}
	return out
}

// IsNull reports whether raw is no value at all or null.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// TrimQuotes returns what stands between the quotes of a string, and another value as it is.
func TrimQuotes(raw []byte) []byte {
	if len(raw) >= 2 && raw[0] == '"' {
		return raw[1 : len(raw)-1]
	}
	return raw
}
