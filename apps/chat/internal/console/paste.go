package console

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/report"
)

const (
	longPaste = 400 // characters; longer ones are named in the line, not shown in it
	tallPaste = 4   // lines
)

// pastes are the long texts that were pasted into lines, by the names that stand for them there. It is safe for concurrent use.
type pastes struct {
	mu    sync.Mutex
	texts []string
}

// put returns what stands in the line for a text that was pasted: a short one itself, a long one a name.
func (p *pastes) put(text string) string {
	text = strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\r\n")
	lines := 1 + strings.Count(strings.ReplaceAll(text, "\r\n", "\n"), "\n") + strings.Count(strings.ReplaceAll(text, "\r\n", ""), "\r")
	if utf8.RuneCountInString(text) <= longPaste && lines <= tallPaste {
		return visible(text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.texts = append(p.texts, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	return name(len(p.texts), lines)
}

// name returns what stands for a long text.
func name(n, lines int) string { return fmt.Sprintf("[pasted %d: %s]", n, report.Count(lines, "line")) }

// fill returns a text with what was pasted in place of its names.
func (p *pastes) fill(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, pasted := range p.texts {
		text = strings.ReplaceAll(text, name(i+1, 1+strings.Count(pasted, "\n")), pasted)
	}
	return text
}
