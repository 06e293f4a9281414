package tools

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/decantdev/decant/agent"
)

type writeArgs struct {
	FilePath string `json:"file_path" jsonschema:"path of the file"`
	Content  string `json:"content" jsonschema:"all that the file is to hold"`
}

type editArgs struct {
	FilePath   string `json:"file_path" jsonschema:"path of the file"`
	OldString  string `json:"old_string" jsonschema:"text that is to be replaced as it stands in the file"`
	NewString  string `json:"new_string" jsonschema:"text that is to stand in its place"`
	ReplaceAll bool   `json:"replace_all,omitzero" jsonschema:"replace it wherever it stands"`
}

func (s *Set) writeTool() agent.Tool {
	t := agent.Func("write", "Writes a file of the project, and the folders above it. What the file held before is gone: read it first, and use edit to change a part of it.",
		func(_ context.Context, c *agent.Call, a writeArgs) (agent.Result, error) {
			return s.alter(c.ID, a.FilePath, a.write)
		})
	t.Idempotent = true
	return previewed(t, func(a writeArgs) (string, error) { return s.preview(a.FilePath, a.write) })
}

func (s *Set) editTool() agent.Tool {
	t := agent.Func("edit", "Replaces a text in a file of the project that you have read. The text must be as it stands in the file, without the numbers of the lines, "+
		"and stand there only once, or replace_all be set.",
		func(_ context.Context, c *agent.Call, a editArgs) (agent.Result, error) {
			return s.alter(c.ID, a.FilePath, a.replace)
		})
	return previewed(t, func(a editArgs) (string, error) { return s.preview(a.FilePath, a.replace) })
}

// write returns what a file is to hold.
func (a writeArgs) write(content) (string, error) { return a.Content, nil }

// replace returns a file with a text replaced.
func (a editArgs) replace(c content) (string, error) {
	switch {
	case !c.exists:
		return "", errors.New("it does not exist: write makes it")
	case a.OldString == "":
		return "", errors.New("old_string is empty: write replaces a whole file")
	case a.OldString == a.NewString:
		return "", errors.New("old_string and new_string are the same")
	}
	text, from, to := string(c.data), a.OldString, a.NewString
	n, crs := strings.Count(text, from), strings.Count(text, "\r\n")
	switch { // the model has seen lines without what ends them
	case n == 0 && crs > 0:
		from, to = withCR(from), withCR(to)
		n = strings.Count(text, from)
	case crs > 0 && crs == strings.Count(text, "\n") && !strings.Contains(from, "\r"):
		to = withCR(to)
	}
	switch {
	case n == 0:
		return "", errors.New("old_string does not stand in it: read it again and copy the text as it is, without the numbers of the lines")
	case n > 1 && !a.ReplaceAll:
		return "", fmt.Errorf("old_string stands in it %d times: give more of the text around it, or set replace_all", n)
	}
	return strings.ReplaceAll(text, from, to), nil
}

// withCR returns a text with the ends of lines that Windows has.
func withCR(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// altered returns what a file is and what it is to be.
func (s *Set) altered(given string, f func(content) (string, error)) (name string, was, will content, err error) {
	if name, err = s.files.name(given); err != nil {
		return name, was, will, err
	}
	if err = writable(name); err != nil {
		return name, was, will, err
	}
	if was, err = s.files.load(name); err != nil {
		return name, was, will, err
	}
	if was.exists {
		hash, read := s.keep.known(name)
		switch {
		case !read:
			return name, was, will, fmt.Errorf("%s was not read: read it before it is changed", name)
		case hash != hashOf(was):
			return name, was, will, fmt.Errorf("%s has changed since it was read: read it again", name)
		}
	}
	text, err := f(was)
	if err != nil {
		return name, was, will, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > largest {
		return name, was, will, fmt.Errorf("%s would have %d bytes, more than the %d that can be written here", name, len(text), largest)
	}
	return name, was, content{data: []byte(text), mode: was.mode, exists: true}, nil
}

// alter changes a file.
func (s *Set) alter(call, given string, f func(content) (string, error)) (r agent.Result, err error) {
	s.change.Lock()
	defer s.change.Unlock()
	name, was, will, err := s.altered(given, f)
	if err != nil {
		return r, err
	}
	if err := s.keep.change(cmp.Or(call, rand.Text()), name, was, will, nil); err != nil {
		return r, err
	}
	if err := s.files.store(name, will); err != nil {
		return r, err
	}
	if !was.exists {
		return agent.Result{Text: fmt.Sprintf("%s is made, with %d bytes.", name, len(will.data))}, nil
	}
	return agent.Result{Text: "Changed:\n" + diff(name, was, will), Rest: "read " + filepath.ToSlash(name)}, nil
}

// preview returns what a call would change.
func (s *Set) preview(given string, f func(content) (string, error)) (string, error) {
	name, was, will, err := s.altered(given, f)
	if err != nil {
		return "", err
	}
	return diff(name, was, will), nil
}

// diff returns what changes in a file, as a unified diff.
func diff(name string, was, will content) string {
	name = filepath.ToSlash(name)
	if binary(was.data) || !utf8.Valid(was.data) {
		return fmt.Sprintf("%s: %d bytes become %d bytes; it is not text\n", name, len(was.data), len(will.data))
	}
	from := "a/" + name
	if !was.exists {
		from = "/dev/null"
	}
	d := udiff.Unified(from, "b/"+name, string(was.data), string(will.data))
	if d == "" {
		return "(it stays as it is)\n"
	}
	return d
}
