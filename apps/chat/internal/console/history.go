package console

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/secret"
)

// mostHistory is how many lines are remembered.
const mostHistory = 1000

// A history is the lines that were typed, also in earlier programs. It implements term.History.
type history struct {
	file  string // empty: none
	lines []string
}

// newHistory reads a file of lines. One that cannot be read is one without lines.
func newHistory(file string) *history {
	h := &history{file: file}
	if b, err := os.ReadFile(file); err == nil {
		h.lines = strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
		h.lines = slices.Clone(h.lines[max(0, len(h.lines)-mostHistory):])
	}
	return h
}

// Add implements term.History. Keys and passwords do not come into the file. That a line cannot be written is no reason to stop
// anybody from talking.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if h.file == "" || os.MkdirAll(filepath.Dir(h.file), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteString(secret.Mask(line) + "\n")
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History: 0 is the newest line.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
