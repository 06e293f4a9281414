package reduce

import "strings"

// Named reports whether one of the patterns, of which presets have lists, matches the name of a tool.
func Named(patterns []string, name string) bool { return matchAny(patterns, name) }

// matchAny reports whether one of the patterns matches the name.
func matchAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if match(strings.ToLower(p), strings.ToLower(name)) {
			return true
		}
	}
	return false
}

// match reports whether name matches pattern, in which "*" matches any letters.
func match(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !strings.HasPrefix(name, head) {
		return false
	}
	name = name[len(head):]
	for star {
		head, rest, star = strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, head)
		}
		i := strings.Index(name, head)
		if i < 0 {
			return false
		}
		name = name[i+len(head):]
	}
	return name == ""
}
