package summary

import (
	"path"
	"strings"

	"github.com/decantdev/decant/internal/fact"
)

// What an agent uses now it is likely to use again, and what stands beside it. The numbers were chosen on sessions of one
// project.
const (
	wantedShare = .5 // of a budget, that lines of what is wanted may take before what competes
	warmth      = 3  // by so much more a line is worth that has something wanted on it
	warmest     = 5  // the most that wanted things make a line worth more
	reach       = 8  // lines to either side that are warmed as well
)

// want has a line of each wanted fact taken before what competes, and makes the lines around all of its lines
// worth more.
func want(b *book, facts []string) {
	w := wants{book: b, wanted: map[int32]bool{}}
	for _, f := range facts {
		for _, name := range names(f) {
			if id, ok := b.lex.ids[name]; ok && !w.wanted[id] {
				w.wanted[id], w.order = true, append(w.order, id)
			}
		}
	}
	if len(w.order) > 0 {
		w.lead()
		w.warm()
	}
}

// names returns what a fact is called by. Where a file is spoken of, it is by its name, and hardly ever by
// its path; and where something is defined that is called as state.Load, it is as Load.
func names(f string) []string {
	out := []string{f}
	base := f[strings.LastIndexByte(f, '/')+1:]
	also := []string{base, strings.TrimSuffix(base, path.Ext(base))}
	if base == f {
		also = []string{f[strings.LastIndexByte(f, '.')+1:]}
	}
	for _, name := range also {
		for _, s := range fact.Scan(nil, name) {
			out = append(out, name[s.Start:s.End])
		}
	}
	return out
}

// wants are facts that a record is to have with what they are.
type wants struct {
	book   *book
	wanted map[int32]bool
	order  []int32 // the newest first
}

// lead has the line taken first that says most beside each wanted fact, as far as there is room: of several that say as
// much one of the job in hand, and then the earliest. That a file was read or changed says nothing of it.
func (w *wants) lead() {
	b := w.book
	best, most := map[int32]int{}, map[int32]int{}
	for i := range b.entries {
		if e := &b.entries[i]; e.text != "" && !e.head && e.must != mustChange && e.must != mustFile {
			now := 0
			if e.warm >= 0 {
				now = 1
			}
			for _, id := range b.lex.of(e.line) {
				if !w.wanted[id] || most[id] >= 2*enoughPlain+now {
					continue // there is a line that says as much
				}
				n := 2*besides(b.lex.texts[e.line], b.lex.facts[id].text) + now
				if n > most[id] || best[id] == 0 {
					best[id], most[id] = i+1, n
				}
			}
		}
	}
	room := float32(wantedShare * b.budget)
	for _, id := range w.order {
		at := best[id] - 1
		if at < 0 {
			continue
		}
		if e := &b.entries[at]; e.must == compete && e.cost <= room {
			e.must = mustWanted
			room -= e.cost
		}
	}
}

// within is how many bytes to either side of a fact are looked at for what it is.
const within = 100

// besides counts the plain words beside a fact on a line, up to the limit.
func besides(line, f string) (n int) {
	at := strings.Index(line, f)
	if at < 0 {
		return 0
	}
	words := plainWords(line[max(0, at-within):min(len(line), at+len(f)+within)])
	return min(enoughPlain, len(words))
}

// warm makes the lines of wanted facts worth more, and those beside them under the same heading.
func (w *wants) warm() {
	b := w.book
	for i := range b.entries {
		heat := float32(0)
		for _, id := range b.lex.of(b.entries[i].line) {
			if w.wanted[id] {
				heat += warmth
			}
		}
		if heat == 0 {
			continue
		}
		for k := max(0, i-reach); k <= min(i+reach, len(b.entries)-1); k++ {
			if e := &b.entries[k]; e.group == b.entries[i].group && e.sec == b.entries[i].sec {
				e.warm = min(warmest, e.warm+2*heat/float32(2+max(i-k, k-i)))
			}
		}
	}
}
