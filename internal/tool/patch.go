package tool

import "strings"

// patchFiles returns the files that the text of an apply_patch call adds, changes, moves or deletes.
func patchFiles(patch, dir string) []Touch {
	var out []Touch
	for line := range strings.Lines(patch) {
		class, p := patchHeader(strings.TrimRight(line, "\r\n"))
		if p != "" {
			out = append(out, Touch{Class: class, Path: p, Key: key(dir, p)})
		}
	}
	return out
}

func patchHeader(line string) (Class, string) {
	head, ok := strings.CutPrefix(line, "*** ")
	if !ok {
		return "", ""
	}
	if p, ok := strings.CutPrefix(head, "Add File: "); ok {
		return Write, strings.TrimSpace(p)
	}
	for _, verb := range [...]string{"Update File: ", "Delete File: ", "Move to: "} {
		if p, ok := strings.CutPrefix(head, verb); ok {
			return Edit, strings.TrimSpace(p)
		}
	}
	return "", ""
}
