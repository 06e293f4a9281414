package notebook

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/memory"
)

// A sharedLine is a rule or a decision in the committed file, one a line. It has nothing that changes from
// day to day, such as confirmations, and nothing from a person's sessions.
type sharedLine struct {
	ID       string      `json:"id"`
	Kind     memory.Kind `json:"kind"` // a decision is of the kind memory
	Text     string      `json:"text"`
	Why      string      `json:"why,omitempty"`
	Revisit  string      `json:"revisit,omitempty"`
	Created  time.Time   `json:"created"`
	Changed  time.Time   `json:"changed,omitzero"` // when it was last edited, archived or restored
	Archived bool        `json:"archived,omitzero"`
	Reason   string      `json:"reason,omitempty"` // why it was archived
}

// sharedLineOf returns a record as a line.
func sharedLineOf(r *Record) sharedLine {
	return sharedLine{
		ID: r.ID, Kind: r.Kind, Text: r.Text, Why: r.Why, Revisit: r.Revisit, Created: r.Created.UTC(),
		Changed: r.Changed.UTC(), Archived: r.Item.State() == memory.Archived, Reason: r.Reason,
	}
}

// Sum returns a hash of a line.
func (l *sharedLine) Sum() string {
	sum := sha256.Sum256(l.json())
	return hex.EncodeToString(sum[:8])
}

func (l *sharedLine) json() []byte {
	text, err := json.Marshal(l, json.Deterministic(true), jsontext.EscapeForHTML(false), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // a struct of strings and times
	}
	return text
}

// Compare orders lines by id, and the versions of one record by age. Versions of the same age have the same
// order on every machine.
func (l *sharedLine) Compare(m *sharedLine) int {
	return cmp.Or(strings.Compare(l.ID, m.ID), l.Changed.Compare(m.Changed), bytes.Compare(l.json(), m.json()))
}

// seams begin the lines with which git marks conflicts.
var seams = []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"}

// parseShared parses a file of lines and sorts them. After a merge it may have several versions of a record;
// all are returned. tidy reports whether the file is what joinShared would write. bad has the numbers of the
// lines that are not records.
func parseShared(text string) (lines []sharedLine, tidy bool, bad []int) {
	n, marks := 0, 0
	for one := range strings.Lines(text) {
		n++
		one = strings.TrimSpace(one)
		if one == "" || slices.ContainsFunc(seams, func(s string) bool { return strings.HasPrefix(one, s) }) {
			marks++
			continue
		}
		var l sharedLine
		if json.Unmarshal([]byte(one), &l) != nil || !shareable(&l) {
			bad = append(bad, n)
			continue
		}
		lines = append(lines, l)
	}
	slices.SortFunc(lines, func(x, y sharedLine) int { return x.Compare(&y) })
	return lines, marks == 0 && len(bad) == 0 && joinShared(lines) == text, bad
}

// shareable reports whether a line is a rule or a decision.
func shareable(l *sharedLine) bool {
	return strings.HasPrefix(l.ID, "m:") && l.Text != "" && (l.Kind == memory.KindRule || l.Kind == memory.KindMemory)
}

// joinShared returns the file of lines, with the newest version of each record.
func joinShared(lines []sharedLine) string {
	lines = slices.Clone(lines)
	slices.SortFunc(lines, func(x, y sharedLine) int { return x.Compare(&y) })
	var b strings.Builder
	for i := range lines {
		if i+1 == len(lines) || lines[i+1].ID != lines[i].ID {
			b.Write(lines[i].json())
			b.WriteByte('\n')
		}
	}
	return b.String()
}
