package session

import (
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// A writer writes one view of a session.
type writer struct {
	*render.Editor
	records  []source.Record
	recordOf []int   // for each item the index of its record
	held     [][]int // for each record the indices of its items

	keep  []bool                    // for each item whether it stays
	fresh map[int][]*decant.Message // messages to write before the one with that Number; 0: at the end
	whole bool                      // nothing that the model saw is left out, and no message is added
	point *decant.Message           // the checkpoint of the view, nil when it has none
	out   output                    // the new file
}

// plan finds out what the view changes.
func (w *writer) plan() error {
	if err := w.Check(); err != nil {
		return err
	}
	w.keep = make([]bool, len(w.Items))
	w.fresh = map[int][]*decant.Message{}
	var pending []*decant.Message
	for i := range w.View.Messages {
		m := &w.View.Messages[i]
		if m.Number == 0 {
			pending = append(pending, m)
			continue
		}
		ok, err := w.stay(m)
		if err != nil {
			return err
		}
		if !ok {
			pending = append(pending, m)
		}
		if len(pending) > 0 {
			w.fresh[m.Number] = pending
			pending = nil
		}
	}
	if len(pending) > 0 {
		w.fresh[0] = pending
	}
	w.settle()
	return nil
}

// stay edits the items of a message that is still in the view. It reports false when the message has to
// be written anew, because they have no place for what is in it.
func (w *writer) stay(m *decant.Message) (bool, error) {
	mark := len(w.Edits)
	items, ok, err := w.Editor.Keep(m)
	if err != nil || !ok {
		return false, err
	}
	if slices.ContainsFunc(items, func(p source.Piece) bool { return p.Text != nil }) {
		w.Edits = w.Edits[:mark] // a new item among them has no line of its own
		return false, nil
	}
	for _, p := range items {
		w.keep[p.Elem] = true
	}
	w.objects(m, w.Edits[mark:])
	return true, nil
}

// objects makes the edits of those calls whose arguments are an object in the source, and not a string
// that holds one, write objects.
func (w *writer) objects(m *decant.Message, edits []source.Edit) {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		s := w.Origin(b)
		if s == nil || s.Form != source.FormRaw || b.Kind != decant.KindUse {
			continue
		}
		for k := range edits {
			if edits[k].At == s.Text {
				edits[k].Text = source.AsObject(b.Text())
			}
		}
	}
}

// settle decides what becomes of items that the view does not name, and of the file as a whole.
func (w *writer) settle() {
	in := map[int]bool{}
	for i := range w.View.Messages {
		in[w.View.Messages[i].Number] = true
	}
	live := len(w.Conv.Messages) - len(w.Conv.Live())
	w.whole = len(w.fresh) == 0
	for i := range w.Conv.Messages {
		m := &w.Conv.Messages[i]
		if i >= live && len(m.Blocks) > 0 && !in[m.Number] {
			w.whole = false
		}
	}
	for i, it := range w.Items {
		if it.Owner == 0 {
			w.keep[i] = true
			continue
		}
		m := &w.Conv.Messages[it.Owner-1]
		empty := len(m.Blocks) == 0 || w.hollow(i)
		if !in[m.Number] && w.whole || empty && (w.whole || in[m.Number]) {
			w.keep[i] = true
		}
	}
}

// inPlace reports whether all lines stay where they are.
func (w *writer) inPlace() bool { return w.whole && !slices.Contains(w.keep, false) }

// hollow reports whether an item holds no block.
func (w *writer) hollow(i int) bool {
	of := w.Spans[w.Items[i].Owner-1]
	return !slices.ContainsFunc(of, func(s source.BlockSpan) bool { return s.Item == i })
}

// checkpoint returns the message of the view that stands for what it covers: the first one that
// Decant wrote for the user, or an earlier summary of the client's that has to be written anew. It is
// nil when there is none.
func (w *writer) checkpoint() *decant.Message {
	for i := range w.View.Messages {
		m := &w.View.Messages[i]
		if isCheckpoint(m) || m.Compaction && slices.Contains(w.fresh[m.Number], m) {
			return m
		}
	}
	return nil
}

func isCheckpoint(m *decant.Message) bool {
	if m.Number != 0 || m.Role != decant.RoleUser || len(m.Blocks) == 0 {
		return false
	}
	for i := range m.Blocks {
		if k := m.Blocks[i].Kind; k != decant.KindText && (k != decant.KindImage || i == 0) {
			return false
		}
	}
	return true
}

// viewed returns the view's message with that Number.
func (w *writer) viewed(number int) *decant.Message {
	for i := range w.View.Messages {
		if m := &w.View.Messages[i]; m.Number == number {
			return m
		}
	}
	return &w.Conv.Messages[number-1]
}

// behind returns the Number of the first message of the source that stands behind m in the view.
func (w *writer) behind(m *decant.Message) int {
	past := false
	for i := range w.View.Messages {
		v := &w.View.Messages[i]
		if past && v.Number > 0 {
			return v.Number
		}
		past = past || v == m
	}
	return len(w.Conv.Messages) + 1
}

// before returns the tokens that the newest answer's request and the answer took: what the client
// would show as the size before the compaction. It is 0 when no usage is recorded.
func (w *writer) before() int {
	for i := len(w.Conv.Messages) - 1; i >= 0; i-- {
		if u := w.Conv.Messages[i].Usage; u != nil {
			return u.Context()
		}
	}
	return 0
}

// moment returns when the compaction is made, as far as the file knows, as a JSON string: a millisecond
// after its newest message. By that what is kept behind the summary is told from what is said
// afterwards. It is nil when the file holds no times.
func (w *writer) moment() []byte {
	var newest time.Time
	for rec, items := range w.held {
		if len(items) == 0 {
			continue
		}
		if t := source.TimeOf(source.Members(w.Src, w.records[rec].At, "timestamp")[0].Of(w.Src)); t.After(newest) {
			newest = t
		}
	}
	if newest.IsZero() {
		return nil
	}
	return source.Quote(newest.Add(time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z"))
}

// at returns the bytes of the span with its edits made, and some more.
func (w *writer) at(s jsonspan.Span, more ...source.Edit) []byte {
	lo, _ := slices.BinarySearchFunc(w.Edits, s.Start, func(e source.Edit, at int) int { return e.At.Start - at })
	hi := lo
	for hi < len(w.Edits) && w.Edits[hi].At.Start < s.End {
		hi++
	}
	return source.SpliceWithin(w.Src, s, append(more, w.Edits[lo:hi]...))
}
