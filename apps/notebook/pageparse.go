package notebook

import (
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A sheet is a parsed file.
type sheet struct {
	Found  []foundRecord
	Pieces []piece // with private text
}

// foundRecord is a record in a file.
type foundRecord struct {
	ID     string // empty: added by a person
	Line   int
	Fields map[string]string // editable fields; of a new record those that it has
}

// Sum returns a hash of the editable fields that the file shows, to compare with renderedFile.Base.
func (f *foundRecord) Sum(have map[string]string) string {
	all := fields{}
	for k := range have {
		all[k] = f.Fields[k]
	}
	return all.sum()
}

var (
	marked  = lazyregexp.New(`\s*<!-- (m:[0-9a-f]{12}) -->`)
	lead    = lazyregexp.New(`^(?:Observation|Pattern|Rule): `)
	counted = lazyregexp.New(` \(\d+ confirmations?\)$`)
	ruled   = lazyregexp.New(`^Rule(?: #\d+)?: `)
	dated   = lazyregexp.New(`^\d{4}-\d\d-\d\d: `)
	ref     = lazyregexp.New(`^([A-Z][A-Z0-9]*-\d+): `)
	line    = lazyregexp.New(`^  - ([A-Z][a-z]+): (.*)$`)
	bold    = lazyregexp.New(`^\*\*(Why|Confirmations|Suspended|Not told|Duration|Original transcript):\*\* ?(.*)$`)
	months  = lazyregexp.New(`^## (January|February|March|April|May|June|July|August|September|October|November|December) \d{4}$`)
	linked  = lazyregexp.New(`^- \[([A-Z_]+\.md)\]\([A-Z_]+\.md\): \d+ `)
)

// A parser reads a file line by line.
type parser struct {
	name    string
	own     map[string]bool // the file's own lines
	sheet   sheet
	after   string   // key of the last block
	foreign bool     // below a heading that a person added
	piece   []string // lines of the current piece
	blank   bool     // an empty line came before
	at      int      // index of the current record, -1: none
	section string   // the file's own heading above
	summary []string // lines of the current summary, nil: none
}

// parsePage parses a file. Nothing is an error: unknown text is a piece.
func parsePage(name, text string) sheet {
	p := &parser{name: name, own: map[string]bool{}, at: -1}
	for _, b := range forms[name](&view{}) {
		if b.fields == nil {
			p.own[strings.TrimSpace(b.key)] = true
		}
	}
	p.own[earlier], p.own[tableHead], p.own[tableRule] = true, true, true
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return p.sheet
	}
	for n, l := range strings.Split(text, "\n") {
		p.line(n+1, l)
	}
	p.endSummary()
	p.flush()
	return p.sheet
}

func (p *parser) line(n int, l string) {
	trimmed := strings.TrimSpace(l)
	key, own := p.frame(trimmed)
	m := marked.FindStringSubmatch(l)
	switch {
	case p.summary != nil && m == nil:
		p.inSummary(l)
	case trimmed == "":
		p.empty()
	case own:
		p.flush()
		p.after, p.foreign, p.at, p.blank = key, false, -1, false
		if strings.HasPrefix(key, "## ") {
			p.section = key
		}
	case m != nil:
		p.endSummary()
		p.begin(n, m[1], marked.ReplaceAllString(l, ""))
	case p.body(l):
		p.blank = false
	case !p.foreign && p.added(n, l):
	default:
		p.other(l, trimmed)
	}
}

// frame returns the key of a line that is the file's own.
func (p *parser) frame(l string) (key string, own bool) {
	switch m := linked.FindStringSubmatch(l); {
	case p.name == indexFile && m != nil:
		return m[1], true
	case p.own[l] && (l == tableHead || l == tableRule):
		return p.after, true
	case p.own[l], p.name == taskArchiveFile && months.MatchString(l):
		return l, true
	}
	return "", false
}

// empty takes an empty line, which belongs to the piece around it.
func (p *parser) empty() {
	if len(p.piece) > 0 {
		p.piece = append(p.piece, "")
	}
	p.blank = true
}

// other adds a line to a piece.
func (p *parser) other(l, trimmed string) {
	if len(p.piece) == 0 && p.blank && p.after != "" {
		p.piece = append(p.piece, "")
	}
	if strings.HasPrefix(trimmed, "#") {
		p.foreign = true
	}
	p.piece = append(p.piece, l)
	p.blank = false
}

// flush ends a piece and keeps one of the empty lines around it.
func (p *parser) flush() {
	if len(p.piece) > 0 {
		text := strings.TrimRight(strings.Join(p.piece, "\n"), "\n") + "\n"
		if p.piece[len(p.piece)-1] == "" {
			text += "\n"
		}
		p.sheet.Pieces = append(p.sheet.Pieces, piece{After: p.after, Text: text})
	}
	p.piece = nil
}

// begin begins a record.
func (p *parser) begin(n int, id, head string) {
	p.flush()
	f := foundRecord{ID: id, Line: n, Fields: map[string]string{}}
	p.head(f.Fields, head)
	p.sheet.Found = append(p.sheet.Found, f)
	p.at, p.after, p.foreign, p.blank = len(p.sheet.Found)-1, id, false, false
}

// head reads the first line of a record.
func (p *parser) head(f map[string]string, l string) {
	text := strings.TrimSpace(l)
	switch {
	case strings.HasPrefix(text, "|"):
		cells := split(text)
		if len(cells) == 6 {
			f["row"], f["pattern"] = cells[2], cells[5]
		}
		return
	case p.name == contextsFile:
		return
	case strings.HasPrefix(text, "## "):
		text = ruled.ReplaceAllString(strings.TrimPrefix(text, "## "), "")
	default:
		text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "-"), "*"))
	}
	switch p.name {
	case observationsFile, observationArchiveFile, rulesFile:
		text = counted.ReplaceAllString(lead.ReplaceAllString(text, ""), "")
	case decisionsFile:
		text = dated.ReplaceAllString(text, "")
	case doneFile, indexFile:
		if m := ref.FindStringSubmatch(text); m != nil {
			f["ref"], text = m[1], text[len(m[0]):]
		}
	}
	f["text"] = text
}

// split returns the cells of a row.
func split(row string) (out []string) {
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	start := 0
	for i := 0; i <= len(row); i++ {
		if i == len(row) || row[i] == '|' && (i == 0 || row[i-1] != '\\') {
			out = append(out, strings.TrimSpace(row[start:i]))
			start = i + 1
		}
	}
	return out
}

// known are the names of lines below a record, by file.
var known = map[string][]string{doneFile: details, decisionsFile: {"Why", "Revisit"}}

// body reads a line below the head of a record. It reports whether it is one.
func (p *parser) body(l string) bool {
	if p.at < 0 || p.foreign {
		return false
	}
	f := p.sheet.Found[p.at].Fields
	if m := line.FindStringSubmatch(l); m != nil && slices.Contains(known[p.name], m[1]) {
		f[strings.ToLower(m[1])] = strings.TrimSpace(m[2])
		return true
	}
	if strings.HasPrefix(l, "  | Confirmations: ") || strings.HasPrefix(l, "  → ") {
		return true
	}
	if m := bold.FindStringSubmatch(l); m != nil && (p.name == rulesFile || p.name == contextsFile) {
		if m[1] == "Why" {
			f["why"] = strings.TrimSpace(m[2])
		}
		return true
	}
	if p.name == contextsFile && l == "<summary>" {
		p.summary = []string{}
		return true
	}
	return false
}

func (p *parser) inSummary(l string) {
	if l == "</summary>" {
		p.endSummary()
		return
	}
	p.summary = append(p.summary, l)
}

func (p *parser) endSummary() {
	if p.summary != nil {
		p.sheet.Found[p.at].Fields["summary"] = strings.Join(p.summary, "\n")
		p.summary = nil
	}
}

// newKey returns the key of an added record, by its index in sheet.Found, for the pieces behind it.
func newKey(i int) string { return "+" + strconv.Itoa(i) }

// added reads the line of a record that a person adds. It reports whether it is one.
func (p *parser) added(n int, l string) bool {
	rule := p.name == rulesFile && strings.HasPrefix(l, "## Rule")
	open := []string{observationsFile, doneFile, decisionsFile, rulesFile, indexFile}
	bullet := slices.Contains(open, p.name) && strings.HasPrefix(l, "- ")
	if p.name == indexFile && p.section != "## Open tasks" || !rule && !bullet || !keepable(l) || strings.TrimSpace(l) == "-" {
		return false
	}
	after := p.after
	p.begin(n, "", l)
	if p.sheet.Found[p.at].Fields["text"] == "" {
		p.sheet.Found, p.at = p.sheet.Found[:p.at], -1
		p.after = after
		return false
	}
	p.after = newKey(p.at)
	return true
}
