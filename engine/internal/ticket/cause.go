package ticket

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
)

// sent notes what the request leaves in the cache, and what it should find there.
func (s *Sight) sent(dr *draft.Draft) {
	q := dr.Query
	s.Sent = cause.Prompt{At: q.Request.Begun, Model: q.Model.ID, Fixed: q.Refs.Conv.Fixed.Version}
	if before := dr.Meter.Sent; before != nil && before.Fixed == s.Sent.Fixed {
		s.Sent.Tools = before.Tools
	} else {
		s.Sent.Tools = toolsOf(&q.Refs.Conv.Fixed)
	}
	blocks := 0
	for i := range dr.View.Messages {
		blocks += len(dr.View.Messages[i].Blocks)
	}
	for _, m := range cost.MessageMarks(dr.View) {
		s.Marked = append(s.Marked, blocks-m.Behind)
		s.Sent.Life = max(s.Sent.Life, int(cost.LifeOf(m.Life)/time.Second))
	}
	if len(s.Marked) > 0 {
		s.Sent.Marked = s.Marked[0]
	}
}

// toolsOf returns the identity of the tools of a request.
func toolsOf(f *decant.Fixed) decant.Hash {
	var all strings.Builder
	for i := range f.Tools {
		all.WriteString(f.Tools[i].Name)
		if f.Tools[i].Schema != nil {
			all.WriteString(f.Tools[i].Schema.Text())
		}
	}
	return decant.HashText(all.String())
}

// differs notes that the client sends a block that it has not sent before.
func (w *walk) differs(at *prompt.Block) {
	p := &w.see.Prompt
	if p.Same == math.MaxInt {
		w.see.Edited = fmt.Sprintf("m%d, block %d", at.Message+1, at.Ref.Block+1)
	}
	p.Same = min(p.Same, w.here())
}

// Step returns how the request stands to the one that was answered before, for the cause of what it wrote.
func (s *Sight) Step(before *cause.Prompt, u decant.Usage) *cause.Step {
	out := &cause.Step{Now: s.Sent}
	out.Now.Usage = u
	if before == nil {
		return out
	}
	if !s.Grows {
		out.Edit = s.Edited
	}
	for _, end := range s.Marked {
		if n := end - before.Marked + 1; n > 0 && (out.Behind == 0 || n < out.Behind) {
			out.Behind = n
		}
	}
	return out
}
