package reduce

import "strings"

// kind is what sort of name something is.
type kind uint8

const (
	kindNone kind = iota
	kindIdent
	kindPath
	kindDir // a path without a file's ending, or an import
	kindStd // a member of something that every program uses
	kindID  // ticket, booking, version, error code
	kindHash
	kindFlag
	kindURL
)

// weight is what a name of the kind is worth at its first mention.
func (k kind) weight() float64 {
	switch k {
	case kindPath:
		return 2.5
	case kindID, kindURL:
		return 1.5
	case kindHash, kindIdent, kindDir:
		return 1
	case kindFlag:
		return 0.8
	}
	return 0
}

// eachName calls yield with every name in text: what an agent has to spell exactly, such as paths, URLs,
// identifiers of more than one word, ids, hashes and options. Plain words do not count.
func eachName(text string, yield func(name string, k kind, at int)) {
	for i := 0; i < len(text); {
		if !nameByte(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && nameByte(text[i]) {
			i++
		}
		if start > 0 && text[start-1] == '<' { // a tag
			continue
		}
		if start > 0 && text[start-1] == '\\' && strings.IndexByte("ntr", text[start]) >= 0 { // an escape inside a quoted string
			start++
		}
		if strings.Contains(text[start:i], "://") {
			i = urlEnd(text, i)
		}
		word, at := trimName(text[start:i], start)
		if k := classify(word); k != kindNone {
			yield(word, k, at)
		}
	}
}

func nameByte(c byte) bool {
	return alnum(c) || c == '_' || c == '.' || c == '/' || c == '-' || c == ':' || c == '@' || c == '~' || c == '+'
}

func alnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// urlEnd returns where the URL that reaches to i ends.
func urlEnd(text string, i int) int {
	for i < len(text) && text[i] > ' ' && text[i] < 0x7F && strings.IndexByte("\"'`<>)]}\\,|", text[i]) < 0 {
		i++
	}
	return i
}

// trimName takes punctuation off both ends, and a position in a file ("a.go:12:3") off a path.
func trimName(w string, at int) (string, int) {
	n := len(w)
	if !strings.HasPrefix(w, "--") {
		w = strings.TrimLeft(w, "-:+@")
	}
	if !strings.HasPrefix(w, "./") && !strings.HasPrefix(w, "../") && strings.HasPrefix(w, ".") && strings.IndexByte(w, '/') < 0 {
		w = strings.TrimLeft(w, ".")
	}
	at += n - len(w)
	w = strings.TrimRight(w, "-:+@./~")
	if strings.Contains(w, "://") {
		return w, at
	}
	if i := strings.IndexByte(w, ':'); i > 0 {
		w = strings.TrimRight(w[:i], "-:+@./~")
	}
	return cutLineNumber(w), at
}

// cutLineNumber takes "-608" or "-608-func" off "a/b.go-608-func", as grep writes lines of context.
func cutLineNumber(w string) string {
	for i := 1; i+1 < len(w); i++ {
		if w[i] == '-' && '0' <= w[i+1] && w[i+1] <= '9' && isFile(w[:i]) {
			return w[:i]
		}
	}
	return w
}

// classify tells what sort of name w is.
func classify(w string) kind {
	if len(w) < 4 || len(w) > 120 {
		return kindNone
	}
	switch {
	case strings.Contains(w, "://"):
		return kindURL
	case strings.HasPrefix(w, "--"):
		if 'a' <= w[2] && w[2] <= 'z' {
			return kindFlag
		}
		return kindNone
	case strings.IndexByte(w, '/') >= 0:
		return pathKind(w)
	}
	return wordKind(shapeOf(w), w)
}

// pathKind tells paths from fractions, dates and pairs of words.
func pathKind(w string) kind {
	s := shapeOf(w)
	if s.lower+s.upper < 4 || strings.Count(w, "/") == 1 && s.dots == 0 && !strings.HasPrefix(w, "/") {
		return kindNone
	}
	if strings.HasPrefix(w, "github.com/") {
		return kindStd // an import
	}
	if w[0] != '/' && !isFile(w) {
		return kindDir
	}
	return kindPath
}

// shape counts what a word is made of.
type shape struct {
	lower, upper, digits, dots, scores, hyphens int
	humps                                       int // capitals that follow a small letter
	hex                                         bool
}

func shapeOf(w string) shape {
	s := shape{hex: true}
	for i := 0; i < len(w); i++ {
		switch c := w[i]; {
		case 'a' <= c && c <= 'z':
			s.lower++
			s.hex = s.hex && c <= 'f'
		case 'A' <= c && c <= 'Z':
			s.upper++
			s.hex = false
			if i > 0 && 'a' <= w[i-1] && w[i-1] <= 'z' {
				s.humps++
			}
		case '0' <= c && c <= '9':
			s.digits++
		case c == '.':
			s.dots++
			s.hex = false
		case c == '_':
			s.scores++
			s.hex = false
		case c == '-':
			s.hyphens++
		}
	}
	return s
}

// wordKind judges a word without slashes.
func wordKind(s shape, w string) kind {
	letters := s.lower + s.upper
	switch {
	case s.hex && s.lower > 0 && s.digits > 0 && len(w) >= 7:
		return kindHash
	case s.dots > 0 && letters > 0 && isFile(w):
		return kindPath
	case letters == 0:
		return kindNone
	case s.hyphens > 0 && s.digits > 0 && s.hyphens <= 3:
		if s.digits > s.hyphens && w[0] <= '9' && strings.IndexByte(w, 'T') > 0 || len(w) < 8 && w[0] <= '9' { // a time; "16-byte"
			return kindNone
		}
		return kindID
	case s.dots > 0 && isStandard(w):
		return kindStd
	case s.scores > 0 && s.hyphens == 0, s.humps > 0 && s.hyphens == 0:
		return kindIdent
	case s.dots == 1 && s.hyphens == 0 && s.digits == 0 && len(w) > 6 && s.upper > 0:
		return kindIdent
	case s.upper >= 2 && s.digits > 0 && s.lower == 0 && len(w) >= 5:
		return kindID
	}
	return kindNone
}

// isStandard reports whether w is a member of something that nearly every program uses.
func isStandard(w string) bool {
	head, _, _ := strings.Cut(w, ".")
	switch head {
	case "fmt", "os", "io", "strings", "errors", "context", "filepath", "path", "json", "t", "b", "console", "time", "sync", "http", "bytes", "sort", "slices",
		"strconv", "regexp", "exec", "log", "slog", "testing", "self", "this", "Math", "JSON", "Object", "Array", "Promise", "process", "React", "Enum", "Map", "String",
		"np", "pd", "sys", "re", "std", "assert", "require", "res", "req", "err", "expect", "cmd", "require_once":
		return true
	}
	return false
}

// isFile reports whether w ends like the name of a file.
func isFile(w string) bool {
	i := strings.LastIndexByte(w, '.')
	switch w[i+1:] {
	case "go", "ts", "tsx", "js", "jsx", "mjs", "py", "rs", "ex", "exs", "heex", "md", "mdx", "json", "jsonl", "yaml", "yml", "toml", "sh", "sql", "html", "css",
		"txt", "lock", "mod", "sum", "c", "h", "cc", "cpp", "hpp", "java", "kt", "rb", "php", "cs", "swift", "proto", "vue", "svelte", "xml", "csv", "log", "ini", "cfg", "env":
		return i > 0
	}
	return false
}
