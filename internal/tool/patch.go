package tool

import "strings"

// patchFiles returns the files that the text of an apply_patch call adds, changes, moves or deletes.
func patchFiles(patch, dir string) []Touch {
	var out []Touch
	for line := range strings.Lines(patch) {
		head, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "*** ")
		if !ok {
			continue
		}
		class, p := patchHeader(head)
		to, moves := strings.CutPrefix(head, "Move to: ")
		switch n := len(out); {
		case p != "":
			out = append(out, Touch{Class: class, Path: p, Key: key(dir, p)})
		case moves && n > 0 && out[n-1].Class == Edit: // the file that the header before it names
			out = append(out[:n-1], moved(dir, out[n-1].Path, strings.TrimSpace(to))...)
		}
	}
	return out
}

// patchHeader reads a header of a patch, which names a file; empty when it is another.
func patchHeader(head string) (Class, string) {
	for _, h := range [...]struct {
		verb  string
		class Class
	}{{"Add File: ", Write}, {"Update File: ", Edit}, {"Delete File: ", Delete}} {
		if p, ok := strings.CutPrefix(head, h.verb); ok {
			return h.class, strings.TrimSpace(p)
		}
	}
	return "", ""
}

// moved returns what moving a file comes to: the one is gone, the other is new.
func moved(dir, from, to string) []Touch {
	return []Touch{
		{Class: Delete, Path: from, Key: key(dir, from)},
		{Class: Write, Path: to, Key: key(dir, to), From: from},
	}
}
