package jsonspan

// Containers returns the places of the objects and arrays in the value that starts at offset at, itself
// included, in the order of their starts. It is for texts that are nested so deep that skipping what is
// inside for each level would take too long.
func Containers(src []byte, at int) (out []Span) {
	var open []int // indexes in out of those whose end has not come
	for i := at; i < len(src); {
		switch src[i] {
		case '"':
			i = skipString(src, i)
			continue
		case '{', '[':
			open = append(open, len(out))
			out = append(out, Span{i, len(src)})
		case '}', ']':
			if len(open) == 0 {
				return out
			}
			out[open[len(open)-1]].End = i + 1
			open = open[:len(open)-1]
		}
		i++
		if len(open) == 0 {
			return out
		}
	}
	return out
}
