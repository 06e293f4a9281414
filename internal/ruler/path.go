package ruler

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// urls finds http:// and https:// with at least four characters behind them.
func urls(s string, yield func(string, Kind)) {
	for i := 0; ; {
		k := strings.Index(s[i:], "http")
		if k < 0 {
			return
		}
		start := i + k
		i = start + len("http")
		rest := strings.TrimPrefix(s[i:], "s")
		if !strings.HasPrefix(rest, "://") {
			continue
		}
		at := len(s) - len(rest) + len("://")
		end, n := urlEnd(s, at)
		if n >= 4 {
			yield(s[start:end], URL)
			i = end
		}
	}
}

// urlEnd returns the end of the characters of a URL from i on, and how many they are.
func urlEnd(s string, i int) (end, n int) {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if space(r) || strings.ContainsRune("\"'`<>)]}\\", r) {
			break
		}
		i += size
		n++
	}
	return i, n
}

// space reports whether r is white space; the separators of files and records are as well.
func space(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// extensions are those by which a single name is known to be a file.
var extensions = map[string]bool{}

func init() {
	for _, e := range strings.Fields("go ts tsx js jsx py rs ex exs md json jsonl yml yaml toml sh sql html css txt lock mod sum heex c h java rb proto") {
		extensions[e] = true
	}
}

// paths finds names joined by slashes, and single names with a known extension.
func paths(s string, yield func(string, Kind)) {
	p := pathScanner{s: s, parts: -1, name: -1}
	for i := begin(s, 0, route); i < len(s); i = begin(s, i, route) {
		end := p.match(i)
		if end < 0 {
			i = max(wordEnd(s, i), i+step(s, i)) // none begins within a word
			continue
		}
		yield(s[i:end], Path)
		i = end
	}
}

// A pathScanner remembers where the run of characters ends in which it stands, so that a long run that
// is no path is looked at once.
type pathScanner struct {
	s               string
	parts, partsEnd int // a run of characters of parts: its end, and that of the path that it begins, or -1
	name, nameEnd   int // a run of characters of a name: its end, and that of the file name, or -1
}

// match returns the end of the path that starts at i, -1 when none does.
func (p *pathScanner) match(i int) int {
	inWord := wordBefore(p.s, i)
	if inWord || byteBefore(p.s, i, "/") {
		return -1
	}
	if !byteBefore(p.s, i, ":") {
		if end := p.joined(i); end > 0 {
			return end
		}
	}
	if byteBefore(p.s, i, ".") {
		return -1
	}
	return p.file(i)
}

// joined returns the end of names joined by slashes from i on, -1 when there is no slash.
func (p *pathScanner) joined(i int) int {
	if p.s[i] == '~' {
		i++
	}
	if i < p.parts {
		return p.partsEnd
	}
	end := partEnd(p.s, i)
	out := slashes(p.s, end)
	if end > i {
		p.parts, p.partsEnd = end, out
	}
	return out
}

// partEnd returns the end of the characters of a part of a path from i on.
func partEnd(s string, i int) int {
	for {
		i = run(s, i, part)
		if i == len(s) || s[i] < utf8.RuneSelf || wordAt(s, i) == 0 {
			return i
		}
		i += wordAt(s, i)
	}
}

// slashes returns the end of one or more parts with a slash before each, or -1.
func slashes(s string, i int) int {
	out := -1
	for i < len(s) && s[i] == '/' {
		end := partEnd(s, i+1)
		if end == i+1 {
			break
		}
		i, out = end, end
	}
	return out
}

// file returns the end of a file name with a known extension from i on, or -1.
func (p *pathScanner) file(i int) int {
	if i < p.name {
		return p.nameEnd
	}
	end := wordEnd(p.s, i)
	for end < len(p.s) && p.s[end] == '-' {
		end = wordEnd(p.s, end+1)
	}
	out := -1
	if end > i && end < len(p.s) && p.s[end] == '.' {
		if stop := wordEnd(p.s, end+1); extensions[p.s[end+1:stop]] {
			out = stop
		}
	}
	if end > i {
		p.name, p.nameEnd = end, out
	}
	return out
}
