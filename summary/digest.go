package summary

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/fact"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/tool"
)

// A digest is a stretch of conversation taken apart: its distinct lines, the facts in them, and the
// groups that lines belong to.
type digest struct {
	from, to int // numbers of the first and last message
	size     int // bytes of the texts
	messages int
	chinese  bool
	model    bool    // the model said something
	prose    float64 // share of the text that user and model said

	lines  []line
	groups []group
	atoms  []atom
	spans  []span  // facts of all lines
	words  []int32 // words of the prose, line after line
	freq   []int32 // of each word, in how many lines

	bySection map[section]int32 // newest group of a section that holds one message each
	byFile    map[string]int32
}

// A line is one distinct line of the transcript, or a piece of a long one.
type line struct {
	text         string
	group        int32
	message      int32   // index of the last message that has it
	span, spans  int32   // into digest.spans
	word, nwords int32   // into digest.words
	plain        int32   // plain words: lower case, four letters or more
	rank         int32   // which line of its text it is, from 0
	voice        float32 // how much its words count
	standing     bool    // an instruction of the user that goes on, or the task
	follows      bool    // goes on where the line before it was cut
	cut          bool    // goes on in the next line
	value        float32
	cost         float32
}

// A span is one fact in a line.
type span struct {
	atom       int32
	start, end int32
}

// An atom is one fact, wherever it stands.
type atom struct {
	text     string
	kind     decant.FactKind
	seen     fact.Seen
	chance   float32 // that it is needed again
	headed   bool    // the path of a file that was changed, which its head says
	argument bool    // a word or a small number, a fact only as the argument of a tool
	piece    piece   // the cheapest piece of a line that says something about it
}

// A piece is a part of a line: a fact with two plain words next to it.
type piece struct {
	line       int32 // -1: none
	start, end int32
	cost       float32
}

// A group is a set of lines that share a heading line: what a message said, a file, a call.
type group struct {
	section section
	number  int    // of the message
	head    string // heading line, empty where the number does
	spans   []span // facts in head, by atom
	cost    float32
	value   float32 // of the head alone
	says    bool    // head holds plain words, too
	file    *file
	call    *call
}

// A file is what became of one file.
type file struct {
	path                   string
	read, changed, created int // number of the last message that did it
}

// A call is a tool call that is not about one file.
type call struct {
	tool.Call
	text    string // one line that says what was called
	outcome tool.Outcome
	done    bool // has a result
	failed  bool
}

// A section is a part of a summary under one heading.
type section uint8

// The sections of a summary, in the order in which they are read: what was said and done first, what
// it was said and done about behind it, and at the end what the work has come to.
const (
	secUser section = iota
	secDecided
	secOpen
	secErrors
	secSaid
	secFiles
	secCommands
	secExcerpts // of files and of what commands printed; no group is of this section
	secTools
	secNames
	secLast
	sections
)

// A reader takes messages apart.
type reader struct {
	*digest
	ids    map[string]int32
	known  map[string]int32 // lines by text
	word   map[string]int32
	calls  map[string]*origin // by call id, newest
	tools  map[string]int32   // group of each tool
	names  []byte
	found  []fact.Span
	asked  int // lines of the user that are the task, so far
	plan   *plan
	latest *origin // the newest tool call
	plain  []place
	small  []byte
}

// An origin is who wrote a text, and which group its lines join.
type origin struct {
	rank    int32 // of the line in its text
	author  author
	index   int // of the message
	number  int
	group   int32
	call    *call
	path    string
	section section // that its lines go to, if forced
	forced  bool
}

// An author is who wrote a text, as far as it matters here.
type author uint8

const (
	byUser author = iota
	byModel
	byCall
	byTool
	byEarlier
)

// A place is where a word stands in a line.
type place struct{ start, end int32 }

// read takes ms apart.
func read(ms []decant.Message) *digest {
	d := &digest{messages: len(ms), bySection: map[section]int32{}, byFile: map[string]int32{}}
	r := &reader{digest: d, ids: map[string]int32{}, known: map[string]int32{}, word: map[string]int32{}, calls: map[string]*origin{}, tools: map[string]int32{}}
	for i := range ms {
		if ms[i].Number > 0 {
			if d.from == 0 {
				d.from = ms[i].Number
			}
			d.to = ms[i].Number
		}
		for k := range ms[i].Blocks {
			r.block(&ms[i], i, &ms[i].Blocks[k])
		}
	}
	r.finish()
	return d
}

func (r *reader) block(m *decant.Message, i int, b *decant.Block) {
	o := origin{index: i, number: m.Number, group: -1}
	switch b.Kind {
	case decant.KindText:
		r.said(o, m, b)
	case decant.KindUse:
		r.use(o, b)
	case decant.KindResult:
		r.result(o, b)
	}
}

// lead is where the mark of a record has to stand at the latest: a preset may put a marker before it.
const lead = 400

// said takes in a text block.
func (r *reader) said(o origin, m *decant.Message, b *decant.Block) {
	text := secret.Mask(b.Text())
	r.size += len(text)
	at := strings.Index(text[:min(len(text), lead)], mark)
	switch {
	case at == 0, at > 0 && text[at-1] == '\n':
		r.fold(o, text[at:])
	case m.Compaction || b.Author == decant.AuthorDecant || strings.HasPrefix(text, continued):
		o.author = byEarlier
		r.text(o, text)
	case b.Author == decant.AuthorUser:
		o.author = byUser
		r.text(o, text)
	case b.Author == decant.AuthorModel:
		o.author = byModel
		r.model = true
		r.text(o, text)
	default:
		o.author = byTool
		o.group = r.newGroup(group{section: secCommands, number: o.number, call: &call{text: "note of the client"}})
		r.text(o, text)
	}
}
