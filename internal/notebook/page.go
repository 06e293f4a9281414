package notebook

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"
)

// A View is what files are made of.
type view struct {
	Records  []*Record
	Pages    map[string]pageState
	Zone     *time.Location // of the dates
	Keep     int            // completed tasks that stand in full
	Metrics  bool           // whether tokens are written
	Unloaded map[string]int // rules that a session is not told, with their rank
}

// The names of the files.
const (
	ObservationsFile       = "OBSERVATIONS.md"
	RulesFile              = "ACTIVE_RULES.md"
	ObservationArchiveFile = "OBSERVATION_ARCHIVE.md"
	DoneFile               = "DONE.md"
	TaskArchiveFile        = "TASK_ARCHIVE.md"
	indexFile              = "MEMORY.md"
	ContextsFile           = "CONTEXT_ARCHIVE.md"
	DecisionsFile          = "DECISIONS.md"
	SharedFile             = "shared.jsonl" // the one that is committed, see Line
)

// FileNames are all files, as people look at them.
var FileNames = []string{indexFile, RulesFile, ObservationsFile, DoneFile, DecisionsFile, ObservationArchiveFile, TaskArchiveFile, ContextsFile}

// A block is a part of a file.
type block struct {
	key    string   // id of the record, or the line of a heading
	lines  []string // a first empty one parts it from what comes before
	fields fields   // of a record: what people may edit
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

// A forms maps files to what makes their blocks.
var forms = map[string]func(*view) []block{
	ObservationsFile: observations, RulesFile: rules, ObservationArchiveFile: observationArchive, DoneFile: done,
	TaskArchiveFile: taskArchive, indexFile: index, ContextsFile: contexts, DecisionsFile: decisions,
}

// A File is one that was rendered.
type renderedFile struct {
	Text string
	Base map[string]string // what people may edit of each record, as a hash
}

// render returns a file. What stands on disk now fills in what a piece may not keep: private text and credentials.
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
		} // what it followed is gone: it stays behind what the piece before it follows
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

// editable returns what people may edit of each record of a file, by its id, as it is rendered now.
func editable(name string, v *view) map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, b := range forms[name](v) {
		if b.fields != nil {
			out[b.key] = b.fields
		}
	}
	return out
}
