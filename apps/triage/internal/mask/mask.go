// Package mask takes secrets and personal data out of what production tells, before a model, a report or a log sees it.
//
// What is found becomes a placeholder with its kind and a number: "[email-1]". Equal values have equal placeholders for as long as one
// [Masker] is used, so that a reader still sees that two errors are about the same person.
//
// Credentials are found by package secret; beside them e-mail addresses, telephone numbers, addresses of hosts, card and account numbers, the
// values behind telling names ("user_name=", "password="), parameters of URLs, and the names of people's home folders. Names, commit hashes,
// UUIDs, line numbers and versions stay: of the 120,000 lines of this module's own source, tests left out, [Masker.Code] changes 5, three of
// which hold addresses. The name of a person in the middle of a sentence cannot be told from other words: it stays.
package mask

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
)

// A Masker masks what belongs to one run. The zero value is ready, for use by many at once. It keeps hashes of what it has found and
// nothing of the values.
type Masker struct {
	mu    sync.Mutex
	names map[[sha256.Size]byte]string
	count map[string]int // distinct values by kind
}

// Text masks what people and programs say: messages, logs, attributes.
func (m *Masker) Text(text string) string { return m.replace(text, find(text, false)) }

// Code masks source code: values behind telling names are masked between quotes only, since others are names of the program.
func (m *Masker) Code(text string) string { return m.replace(text, find(text, true)) }

// A span is what is masked in a text, half open.
type span struct {
	start, end int
	kind       string
}

// replace returns text with placeholders in place of spans.
func (m *Masker) replace(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for _, s := range spans {
		value := text[s.start:s.end]
		b.WriteString(text[last:s.start])
		if issued.MatchString(value) {
			b.WriteString(value) // masked before
		} else {
			b.WriteString(m.placeholder(s.kind, value))
		}
		last = s.end
	}
	b.WriteString(text[last:])
	return b.String()
}

// placeholder returns what stands for a value. Letters and spelling of a number do not count.
func (m *Masker) placeholder(kind, value string) string {
	if issued.MatchString(value) {
		return value
	}
	switch kind {
	case email, host:
		value = strings.ToLower(strings.NewReplacer("%40", "@", `\u0040`, "@").Replace(value))
	case phone, card, account:
		value = strings.Map(func(r rune) rune {
			if strings.ContainsRune(" -./()", r) {
				return -1
			}
			return r
		}, value)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names == nil {
		m.names, m.count = map[[sha256.Size]byte]string{}, map[string]int{}
	}
	key := sha256.Sum256([]byte(kind + "\x00" + value))
	if m.names[key] == "" {
		m.count[kind]++
		m.names[key] = fmt.Sprintf("[%s-%d]", kind, m.count[kind])
	}
	return m.names[key]
}
