package notebook

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/memory"
)

// A readback makes records of what people changed in files.
type readback struct {
	l     *ledger
	zone  *time.Location
	count func(string) int
	read  []string
}

// files reads all files. A missing file is not a change: it is written again.
func (a *readback) files(disk map[string][]byte) {
	pages := a.l.pages()
	sheets, seen := map[string]sheet{}, map[string]bool{}
	for _, name := range fileNames {
		if disk[name] == nil {
			continue
		}
		sheet := parsePage(name, string(disk[name]))
		sheets[name] = sheet
		for _, f := range sheet.Found {
			seen[f.ID] = true
		}
	}
	shown := map[string]map[string]map[string]string{}
	v := a.l.view(a.zone, a.count)
	for name := range sheets {
		shown[name] = editable(name, v)
	}
	for _, name := range fileNames {
		if sheet, ok := sheets[name]; ok {
			a.deleted(name, pages[name].Base, seen)
			a.file(name, sheet, shown[name])
		}
	}
}

// deleted archives the records that a person deleted from a file. One deleted from an archive appears in no
// file any more.
func (a *readback) deleted(name string, base map[string]string, seen map[string]bool) {
	for _, id := range slices.Sorted(maps.Keys(base)) {
		r := a.l.byID(id)
		if seen[id] || r == nil || !r.Removed.IsZero() {
			continue
		}
		archive := name == observationArchiveFile || name == taskArchiveFile || name == contextsFile
		switch {
		case archive && (r.Item.State() != memory.Active || r.Type == contextType):
			r.Removed = a.l.now
		case archive || r.Item.State() != memory.Active || a.l.archive(r, "deleted from "+name) != nil:
			continue
		}
		a.read = append(a.read, name+": deleted "+id+" "+r.Text)
	}
}

// file reads the changes and additions in a file, and keeps its pieces.
func (a *readback) file(name string, sheet sheet, shown map[string]map[string]string) {
	p := a.l.pages()[name]
	keys := map[string]string{}
	for i := range sheet.Found {
		f := &sheet.Found[i]
		if f.ID == "" {
			keys[newKey(i)] = a.added(name, f)
			continue
		}
		if have := shown[f.ID]; have != nil && p.Base[f.ID] != f.Sum(have) {
			a.edited(name, f, have)
		}
	}
	p.Pieces = nil
	for _, text := range sheet.Pieces {
		if id, ok := keys[text.After]; ok {
			text.After = id
		}
		p.Pieces = append(p.Pieces, piece{After: text.After, Text: publicText(text.Text)})
	}
	a.l.pages()[name] = p
}

// added makes a record of an addition and returns its id, empty if that fails.
func (a *readback) added(name string, f *foundRecord) string {
	var r *Record
	var err error
	text := f.Fields["text"]
	switch name {
	case rulesFile:
		r, err = a.l.addRule(text, f.Fields["why"], memory.Source{})
	case observationsFile:
		if r = a.l.saying(memory.KindObservation, text); r == nil {
			r, err = a.l.add(memory.KindObservation, text, memory.Source{})
		}
	case decisionsFile:
		if r, err = a.l.add(memory.KindMemory, text, memory.Source{}); err == nil {
			r.Type = DecisionType
			a.set(r, f.Fields, nil)
		}
	default:
		if ref := f.Fields["ref"]; ref != "" {
			text = ref + ": " + text
		}
		if r, err = a.l.task(text, memory.Source{}); err == nil && name == doneFile && r.Task.Done.IsZero() {
			r.Task.Done, r.Task.Sessions = a.l.now, a.l.state().Sessions
			a.set(r, f.Fields, nil)
		}
	}
	if err != nil {
		a.read = append(a.read, fmt.Sprintf("%s:%d: not read: %v", name, f.Line, err))
		return ""
	}
	a.read = append(a.read, fmt.Sprintf("%s:%d: added %s %s", name, f.Line, r.ID, r.Text))
	return r.ID
}

// edited applies the changes of a record.
func (a *readback) edited(name string, f *foundRecord, have map[string]string) {
	r := a.l.byID(f.ID)
	if r == nil || maps.Equal(have, f.Fields) {
		return
	}
	if text := f.Fields["text"]; text != "" && text != have["text"] {
		if err := a.l.rewrite(r, text); err != nil {
			a.read = append(a.read, fmt.Sprintf("%s:%d: not read: %v", name, f.Line, err))
		}
	}
	a.set(r, f.Fields, have)
	a.read = append(a.read, fmt.Sprintf("%s:%d: changed %s %s", name, f.Line, r.ID, r.Text))
}

// set applies the changed fields besides the text.
func (a *readback) set(r *Record, f, have map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(union(f, have))) {
		v := oneLine(f[k])
		if f[k] == have[k] {
			continue
		}
		switch k {
		case "why":
			r.Why, r.Changed = v, a.l.now
		case "revisit":
			r.Revisit, r.Changed = v, a.l.now
		case "summary":
			r.Context.Summary = publicText(f[k])
		default:
			if r.Task != nil {
				a.task(r.Task, k, v)
			}
		}
	}
}

func union(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	for k := range b {
		if _, ok := out[k]; !ok {
			out[k] = ""
		}
	}
	return out
}

var (
	filesLine = lazyregexp.New(`^(\d+)(?: \((.*)\))?$`)
	amount    = lazyregexp.New(`([\d.]+)(K?) (estimated|actual)`)
)

// task sets one field of a task.
func (a *readback) task(t *Task, k, v string) {
	switch k {
	case "ref":
		if v != "" {
			t.Ref = v
		}
	case "completed":
		if at, err := time.ParseInLocation("2006-01-02", v, a.zone); err == nil {
			t.Done = at
		}
	case "outcome":
		t.Outcome = v
	case "files":
		t.Files, t.Which = 0, v
		if m := filesLine.FindStringSubmatch(v); m != nil {
			t.Files, _ = strconv.Atoi(m[1])
			t.Which = m[2]
		}
	case "tests":
		t.Tests = v
	case "tokens":
		t.Estimate, t.Tokens = 0, 0
		for _, m := range amount.FindAllStringSubmatch(v, -1) {
			n, _ := strconv.ParseFloat(m[1], 64)
			if m[2] == "K" {
				n *= 1000
			}
			if m[3] == "actual" {
				t.Tokens = int(n)
			} else {
				t.Estimate = int(n)
			}
		}
	case "commits":
		t.Commits = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	case "issues":
		t.Issues = v
	case "pattern":
		t.Pattern = v
	}
}
