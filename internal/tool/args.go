package tool

import (
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// fields are the members of an arguments object that say something about the call, gathered in one
// pass over its text without decoding the rest.
type fields struct {
	object  bool     // the arguments are an object
	path    string   // the first file or directory named
	paths   []string // every file named
	query   string
	url     string
	command string // of a shell, joined when it was an array
	dir     string
	input   string // a patch given as a member
	from    string // the file that is moved or copied
	payload int    // bytes of the members that a write carries

	first, last   int // explicit lines, from 1
	offset, limit int
}

// readFields gathers the members of args; malformed JSON gives what could be read of it.
func readFields(args string) fields {
	var f fields
	s := scanner{src: args}
	s.object(func(name, raw string) { f.member(name, raw) })
	f.object = s.isObject
	return f
}

// member takes in one member of the arguments object.
func (f *fields) member(name, raw string) {
	switch name {
	case "file_path", "path", "filePath", "filepath", "filename", "file", "target_file", "absolute_path", "AbsolutePath",
		"notebook_path", "relative_workspace_path", "target_directory", "dir_path", "file_name", "DirectoryPath":
		f.addPath(decode(raw))
	case "source", "source_path", "old_path", "oldPath", "src":
		f.from = decode(raw)
	case "destination", "destination_path", "new_path", "newPath", "dst":
		f.addPath(decode(raw))
	case "paths", "files", "file_paths":
		list(raw, f.addPath)
	case "pattern", "query", "regex", "search_term", "search", "q", "glob", "glob_pattern", "question", "keyword", "Query":
		f.query = first(f.query, decode(raw))
	case "url", "uri", "href", "Url":
		f.url = first(f.url, decode(raw))
	case "command", "cmd", "CommandLine":
		f.command = command(raw)
	case "workdir", "cwd", "working_directory", "workingDirectory", "Cwd":
		f.dir = decode(raw)
	case "content", "contents", "file_text", "fileText", "new_string", "new_str", "newText", "newString", "new_source", "edits", "diff", "code_edit", "CodeContent":
		f.payload += len(raw)
	case "old_string", "old_str", "oldText", "oldString":
		f.payload += len(raw)
	case "input", "patch", "patchText":
		f.input = decode(raw)
	default:
		f.number(name, raw)
	}
}

// number takes in a member that limits the lines of a read.
func (f *fields) number(name, raw string) {
	switch name {
	case "offset":
		f.offset = integer(raw)
	case "limit":
		f.limit = integer(raw)
	case "start_line", "startLine", "line_start", "start_line_one_indexed", "StartLine", "line_number":
		f.first = integer(raw)
	case "end_line", "endLine", "line_end", "end_line_one_indexed_inclusive", "EndLine":
		f.last = integer(raw)
	case "view_range", "viewRange", "line_range":
		numbers := strings.FieldsFunc(raw, func(r rune) bool { return r != '-' && (r < '0' || r > '9') })
		if len(numbers) == 2 {
			f.first, f.last = integer(numbers[0]), integer(numbers[1])
		}
	}
}

func (f *fields) addPath(p string) {
	if p == "" {
		return
	}
	f.path = first(f.path, p)
	f.paths = append(f.paths, p)
}

// lines returns the range of lines that a read is limited to, as in Touch.
func (f *fields) lines() (first, last int) {
	if f.first > 0 || f.last > 0 {
		return f.first, max(f.last, 0)
	}
	if f.offset <= 0 && f.limit <= 0 {
		return 0, 0
	}
	first = max(f.offset, 1)
	if f.limit > 0 {
		last = first + f.limit - 1
	}
	return first, last
}

// editor reports whether the arguments are of the one tool that views, creates and edits.
func (f *fields) editor() bool {
	switch f.command {
	case "view", "create", "str_replace", "insert", "undo_edit":
		return f.path != ""
	}
	return false
}

func (f *fields) viewsFile() bool { return f.command == "view" && f.path != "" }

// patch returns the text of a patch: a member of the arguments, or all of them.
func (f *fields) patch(args string) string { return first(f.input, args) }

// scanner walks over the members of a JSON object in src.
type scanner struct {
	src      string
	pos      int
	isObject bool
}

// object calls member with the name and the raw value of each member of the object, in order.
func (s *scanner) object(member func(name, raw string)) {
	if s.space(); s.next() != '{' {
		return
	}
	s.isObject = true
	for {
		if s.space(); s.peek() != '"' {
			return
		}
		name := s.value()
		if s.space(); s.next() != ':' {
			return
		}
		s.space()
		raw := s.value()
		if raw == "" {
			return
		}
		member(decode(name), raw)
		if s.space(); s.next() != ',' {
			return
		}
	}
}

// value returns the raw value that starts here. It only matches quotes and brackets: values are
// looked at, never forwarded.
func (s *scanner) value() string {
	start, depth := s.pos, 0
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case '"':
			s.str()
			if depth == 0 {
				return s.src[start:s.pos]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return s.src[start:s.pos]
			}
			if depth == 0 {
				s.pos++
				return s.src[start:s.pos]
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return s.src[start:s.pos]
			}
		}
		s.pos++
	}
	return s.src[start:]
}

// str skips the string that starts here.
func (s *scanner) str() {
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case '"':
			s.pos++
			return
		}
	}
	s.pos = len(s.src)
}

func (s *scanner) space() {
	for s.pos < len(s.src) && strings.IndexByte(" \t\r\n", s.src[s.pos]) >= 0 {
		s.pos++
	}
}

func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

func (s *scanner) next() byte {
	c := s.peek()
	if s.pos < len(s.src) {
		s.pos++
	}
	return c
}

// decode decodes a raw JSON string; empty for any other value.
func decode(raw string) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if raw[len(raw)-1] == '"' && strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	// A truncated string is read as far as it goes.
	out, _ := jsontext.AppendUnquote(nil, raw)
	return string(out)
}

// list calls each with the strings of a raw array, or with the string when it is one.
func list(raw string, each func(string)) {
	if strings.HasPrefix(raw, `"`) {
		each(decode(raw))
		return
	}
	s := scanner{src: raw, pos: 1}
	for s.pos < len(s.src) {
		if s.space(); s.peek() == '"' {
			each(decode(s.value()))
			continue
		}
		s.pos++
	}
}

// command decodes the command of a shell call: a string, or an array of words as Codex writes it.
func command(raw string) string {
	if !strings.HasPrefix(raw, "[") {
		return decode(raw)
	}
	var words []string
	list(raw, func(w string) { words = append(words, w) })
	if len(words) == 3 && isShell(words[0]) && strings.HasPrefix(words[1], "-") {
		return words[2]
	}
	for i, w := range words {
		if strings.ContainsAny(w, " \t\n|&;<>()$`\"'") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func integer(raw string) int {
	n, err := strconv.Atoi(raw)
	if err != nil {
		f, _ := strconv.ParseFloat(strings.Trim(raw, `"`), 32)
		n = int(max(min(f, 1e9), -1e9))
	}
	return n
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// key returns the identity of the file p, as seen from the directory dir.
func key(dir, p string) string {
	if dir != "" && (p == "" || strings.IndexByte("/~$", p[0]) < 0) { // "$dir/a" may lie anywhere
		return path.Join(dir, p)
	}
	return path.Clean(p)
}
