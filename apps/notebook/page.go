package notebook

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"
)

// A file is made of blocks: its own headings, and records, each with its id in a comment. Text that people
// add between them is a piece, which stays behind the block that it follows. The same records and pieces give
// the same bytes.

// A view is what files are made from.
type view struct {
	Records  []*Record
	Pages    map[string]pageState
	Zone     *time.Location // of the dates
	Keep     int            // completed tasks that are written in full
	Metrics  bool           // write numbers of tokens
	Unloaded map[string]int // ranks of the rules beyond the limit of what a session is told
}

// The names of the files.
const (
	observationsFile       = "OBSERVATIONS.md"
	rulesFile              = "ACTIVE_RULES.md"
	observationArchiveFile = "OBSERVATION_ARCHIVE.md"
	doneFile               = "DONE.md"
	taskArchiveFile        = "TASK_ARCHIVE.md"
	indexFile              = "MEMORY.md"
	contextsFile           = "CONTEXT_ARCHIVE.md"
	decisionsFile          = "DECISIONS.md"
	sharedKey              = "shared.jsonl" // committed to the repository, see sharedLine
)

// fileNames are the Markdown files, in reading order.
var fileNames = []string{
	indexFile, rulesFile, observationsFile, doneFile, decisionsFile,
	observationArchiveFile, taskArchiveFile, contextsFile,
}

// A block is a part of a file.
type block struct {
	key    string   // id of a record, or the line of a heading
	lines  []string // an empty first one separates it from the block before
	fields fields   // what people may edit of a record; nil for a heading
}

// fields are what people may edit of a record, by the name of the field.
type fields map[string]string

// sum returns a hash of fields.
func (f fields) sum() string {
	h := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(f)) {
		h.Write([]byte(k + "\x00" + f[k] + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// forms make the blocks of each file.
var forms = map[string]func(*view) []block{
	observationsFile: observations, rulesFile: rules, observationArchiveFile: observationArchive, doneFile: done,
	taskArchiveFile: taskArchive, indexFile: index, contextsFile: contexts, decisionsFile: decisions,
}

// A renderedFile is the text of a file.
type renderedFile struct {
	Text string
	Base map[string]string // hash of the editable fields, by record
}

// render returns a file. Private text and credentials of pieces are not stored: they come from the file on disk.
func render(name string, v *view, disk string) renderedFile {
	blocks := forms[name](v)
	after := map[string][]string{}
	keys := map[string]bool{"": true}
	for i := range blocks {
		keys[blocks[i].key] = true
	}
	last, whole := "", wholes(name, disk)
	for _, p := range v.Pages[name].Pieces {
		if keys[p.After] {
			last = p.After
		} // its block is gone: it follows the piece before it
		text := p.Text
		if raw, ok := whole[text]; ok {
			text = raw
		}
		after[last] = append(after[last], text)
	}
	out, base := &writer{}, map[string]string{}
	out.pieces(after[""])
	for i := range blocks {
		out.block(blocks[i].lines)
		out.pieces(after[blocks[i].key])
		if blocks[i].fields != nil {
			base[blocks[i].key] = blocks[i].fields.sum()
		}
	}
	return renderedFile{Text: out.String(), Base: base}
}

// A writer puts blocks and pieces together.
type writer struct{ strings.Builder }

func (w *writer) block(lines []string) {
	for i, l := range lines {
		if i == 0 && l == "" && (w.Len() == 0 || strings.HasSuffix(w.String(), "\n\n")) {
			continue
		}
		w.WriteString(l + "\n")
	}
}

func (w *writer) pieces(texts []string) {
	for _, t := range texts {
		w.WriteString(t)
		if !strings.HasSuffix(t, "\n") {
			w.WriteString("\n")
		}
	}
}

// editable returns the editable fields of the records of a file, by id.
func editable(name string, v *view) map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, b := range forms[name](v) {
		if b.fields != nil {
			out[b.key] = b.fields
		}
	}
	return out
}
