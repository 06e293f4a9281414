package book

import (
	"strings"

	"github.com/decantdev/decant"
)

// The marks behind which agent programs name the directory that they work in, in a line of their own: Claude Code and
// opencode in words, Codex in a tag.
var directoryMarks = []string{"Primary working directory: ", "Working directory: ", "<cwd>"}

// The bounds of where a program says its directory.
const (
	firstMessages = 3
	longestPath   = 1024 // bytes
)

// directoryOf returns the directory that an agent program says it works in, at the beginning of a request; empty when it
// says none.
func directoryOf(c *decant.Conversation) string {
	blocks := c.Fixed.System
	for i := range min(firstMessages, len(c.Messages)) {
		blocks = append(blocks[:len(blocks):len(blocks)], c.Messages[i].Blocks...)
	}
	for i := range blocks {
		b := &blocks[i]
		if b.Kind != decant.KindText || b.Author == decant.AuthorUser && i >= len(c.Fixed.System) {
			continue
		}
		if dir := directoryIn(b.Text()); dir != "" {
			return dir
		}
	}
	return ""
}

// directoryIn returns the directory that a text names in a line of its own, empty when it names none.
func directoryIn(text string) string {
	for _, mark := range directoryMarks {
		before, rest, ok := strings.Cut(text, mark)
		if !ok || strings.Trim(before[strings.LastIndexByte(before, '\n')+1:], " \t-*") != "" {
			continue
		}
		dir, _, _ := strings.Cut(rest, "\n")
		dir = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(dir), "</cwd>"))
		if len(dir) <= longestPath && (strings.HasPrefix(dir, "/") || len(dir) > 2 && dir[1] == ':') {
			return dir
		}
	}
	return ""
}
