package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
)

// An Overview is what is kept of one conversation and what the model sees of it.
type Overview struct {
	Session
	Answered    bool            `json:"answered"` // the last message is an answer that the client has not sent back yet
	Hold        bool            `json:"hold"`     // no pour but a necessary one until released
	Seen        int             `json:"seen"`     // messages of the view
	SeenTokens  int             `json:"seen_tokens"`
	Fixed       int             `json:"fixed_tokens"` // system prompt and tools
	Checkpoints []CheckpointRow `json:"checkpoint_list"`
	Pours       []PourRow       `json:"pour_list"`
	List        []messageRow    `json:"message_list"`
}

// A CheckpointRow is a checkpoint in a list.
type CheckpointRow struct {
	decant.Checkpoint
	Handle  decant.Handle `json:"handle"`
	Created time.Time     `json:"created"`
	State   string        `json:"state"`             // "in the view", "replaced by a newer one" or "taken back"
	Missing []decant.Fact `json:"missing,omitempty"` // must-keep facts that it lacks; looked for in summaries that Decant did not write
}

// A messageRow is a message in a list.
type messageRow struct {
	Number int         `json:"number"`
	Role   decant.Role `json:"role"`
	Tokens int         `json:"tokens"` // as it was sent
	Seen   string      `json:"seen"`   // "whole", the handle of a checkpoint, or what was done to its blocks and the first one's handle
	About  string      `json:"about"`  // its beginning, on one line
}

// NewOverview returns the overview of a conversation: all of it, and the view of it under the
// decisions.
func NewOverview(s Session, all, view *decant.Conversation, ds []decant.Decision, size Sizer) *Overview {
	o := &Overview{Session: s, Seen: len(view.Messages), Fixed: size.Fixed(&all.Fixed)}
	o.checkpoints(ds)
	o.Pours = pours(ds)
	seen := map[int]*decant.Message{}
	for i := range view.Messages {
		m := &view.Messages[i]
		seen[m.Number] = m
		o.SeenTokens += tokens(m, size)
	}
	made := map[string]*decant.Decision{}
	for i := range ds {
		made[ds[i].ID] = &ds[i]
	}
	for i := range all.Messages {
		m := &all.Messages[i]
		row := messageRow{Number: m.Number, Role: m.Role, Tokens: tokens(m, size), About: aboutMessage(m)}
		row.Seen = o.fate(m, seen[m.Number], made)
		o.List = append(o.List, row)
	}
	return o
}

func tokens(m *decant.Message, size Sizer) (n int) {
	for i := range m.Blocks {
		n += size.Block(&m.Blocks[i])
	}
	return n
}

// checkpoints lists the checkpoints among ds. The newest that was not taken back is in the view.
func (o *Overview) checkpoints(ds []decant.Decision) {
	revoked := map[string]bool{}
	for i := range ds {
		revoked[ds[i].Revokes] = true
	}
	live := -1
	for i := range ds {
		cp := ds[i].Checkpoint
		if cp == nil {
			continue
		}
		row := CheckpointRow{Checkpoint: *cp, Handle: ds[i].Handle, Created: ds[i].Created, State: Replaced}
		if revoked[ds[i].ID] {
			row.State = "taken back"
		} else {
			live = len(o.Checkpoints)
		}
		o.Checkpoints = append(o.Checkpoints, row)
	}
	if live >= 0 {
		o.Checkpoints[live].State = InView
	}
}

// Compacted adds summaries in the conversation that are none of Decant's, by rising numbers of their messages. The
// newest of them hides everything before it.
func (o *Overview) Compacted(rows []CheckpointRow) {
	if len(rows) == 0 {
		return
	}
	newest := &rows[len(rows)-1]
	for i := range o.Checkpoints {
		if c := &o.Checkpoints[i]; c.State == InView && c.To <= newest.To {
			c.State = Replaced
		}
	}
	for i := range o.List {
		if m := &o.List[i]; m.Number <= newest.To && m.Seen == leftOut {
			m.Seen = string(newest.Handle)
		}
	}
	o.Checkpoints = append(o.Checkpoints, rows...)
}

// leftOut is what a message is that is not in the view, and for which nothing stands there.
const leftOut = "left out"

// The states of checkpoints, besides those that were taken back.
const (
	InView   = "in the view"
	Replaced = "replaced by a newer one"
)

// fate says what became of a message in the view; seen is nil when it is not there.
func (o *Overview) fate(m, seen *decant.Message, made map[string]*decant.Decision) string {
	if seen == nil {
		for i := range o.Checkpoints {
			if c := &o.Checkpoints[i]; c.State == InView && m.Number >= c.From && m.Number <= c.To {
				return string(c.Handle)
			}
		}
		return leftOut
	}
	what, n := "", 0
	for i := range seen.Blocks {
		if d := made[seen.Blocks[i].Changed]; d != nil {
			if n++; n == 1 {
				what = fmt.Sprintf("%s %s", d.Kind, d.Handle)
			}
		}
	}
	switch {
	case n > 1:
		return fmt.Sprintf("%s +%d", what, n-1)
	case n == 1:
		return what
	case len(seen.Blocks) < len(m.Blocks):
		return "no thinking"
	}
	return "whole"
}

// aboutMessage returns the beginning of a message, without credentials: its words, else its first call or result.
func aboutMessage(m *decant.Message) string {
	text := m.Text(decant.KindText)
	for i := 0; text == "" && i < len(m.Blocks); i++ {
		switch b := &m.Blocks[i]; b.Kind {
		case decant.KindUse:
			text = b.Name + " " + b.Text()
		case decant.KindResult:
			text = "result of " + dash(b.Name) + ": " + b.Text()
		case decant.KindImage, decant.KindOpaque, decant.KindThinking:
			text = "(" + string(b.Kind) + ")"
		}
	}
	return cut(plain(strings.Join(strings.Fields(secret.Mask(cut(text, 1000))), " ")), 120)
}

// WriteText writes the overview for people, at most width columns wide.
func (o *Overview) WriteText(w io.Writer, width int, zone *time.Location) error {
	p := &printer{Writer: w, width: width}
	p.line("%s", o.ID)
	p.line("  session %s, agent %s, project %s, model %s", dash(o.Session.Session), dash(o.Agent), dash(o.Project), dash(o.Model))
	p.line("  kept: %s, %s%s%s", Count(len(o.List), "message"), Count(o.total(), "token"), o.fixed(), o.answered())
	p.line("  the model sees: %s, %s", Count(o.Seen, "message"), Count(o.SeenTokens, "token"))
	if o.Hold {
		p.line("  on hold: nothing more is left out before the window is full; \"decant release\" ends that")
	}
	for i := range o.Checkpoints {
		if i == 0 {
			p.line("\ncheckpoints")
		}
		p.line("  %s", o.Checkpoints[i].text(zone))
	}
	for i := range o.Pours {
		if i == 0 {
			p.line("\npours")
		}
		p.line("  %s", o.Pours[i].text(zone))
	}
	p.line("\nmessages")
	rows := [][]string{{"", "role", "tokens", "model sees", ""}}
	for _, m := range o.List {
		rows = append(rows, []string{fmt.Sprintf("m%d", m.Number), string(m.Role), Thousands(m.Tokens), m.Seen, cut(m.About, max(20, width-36))})
	}
	p.table(rows, "rLrfl")
	return p.err
}

// answered says why a list of conversations counts one message less.
func (o *Overview) answered() string {
	if !o.Answered {
		return ""
	}
	return "; the last one is an answer that was not sent back yet"
}

func (o *Overview) total() (n int) {
	for i := range o.List {
		n += o.List[i].Tokens
	}
	return n
}

func (o *Overview) fixed() string {
	if o.Fixed == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s of system prompt and tools", Thousands(o.Fixed))
}

// text returns the checkpoint as a line. When a client had a summary made is not known. What tools returned is no part of the score, so the
// line says whose words are.
func (c *CheckpointRow) text(zone *time.Location) string {
	kept, when := portion(c.Score)+" of the exact strings of user and model kept", ""
	if c.Lost > 0 {
		kept += ", " + plural(c.Lost, "image") + " left out"
	}
	if c.Summary == "" {
		kept = "not readable"
	}
	if !c.Created.IsZero() {
		when = c.Created.In(zone).Format("2006-01-02 15:04") + ", "
	}
	return fmt.Sprintf("%s  m%d to m%d (%s): %s became %s (%s), %s, %s, %s%s",
		c.Handle, c.From, c.To, Count(c.Messages, "message"), Count(c.Original, "token"), Thousands(c.Compressed), percent(c.Compressed, c.Original),
		kept, c.Rung, when, c.State)
}

// WriteText writes the checkpoint with its summary for people, and what it lacks.
func (c *CheckpointRow) WriteText(w io.Writer, zone *time.Location) error {
	p := &printer{Writer: w}
	p.line("%s\n", c.text(zone))
	if c.Summary == "" {
		p.line("What it says cannot be read: the provider has encrypted it.")
	}
	p.line("%s", strings.TrimRight(c.Summary, "\n"))
	if len(c.Segments) > 0 {
		p.line("\nwhat models wrote about it, kept as it is for later records:")
		for i := range c.Segments {
			p.line("  %s", SegmentLine(&c.Segments[i]))
			for line := range strings.Lines(c.Segments[i].Text) {
				p.line("    %s", plain(strings.TrimRight(line, "\n")))
			}
		}
	}
	c.missing(p)
	return p.err
}

// SegmentLine says in a line what a segment is about, by which rung it was made, and by which model.
func SegmentLine(s *decant.Segment) string {
	line := fmt.Sprintf("m%d to m%d  %s, %s", s.From, s.To, s.Rung, Count(utf8.RuneCountInString(s.Text), "character"))
	if s.Model != "" {
		line += ", by " + plain(s.Model)
	}
	for _, g := range s.Gaps {
		line += fmt.Sprintf("; nothing about m%d to m%d: %s", g.From, g.To, cut(plain(g.Why), 100))
	}
	return line
}

// mostMissing is how many facts are listed that a summary lacks.
const mostMissing = 20

// missing lists what must be kept and is not in the summary, sentences first.
func (c *CheckpointRow) missing(p *printer) {
	if len(c.Missing) == 0 {
		return
	}
	p.line("\n%s of %d that must be kept are not in it:", Count(len(c.Missing), "fact"), len(c.Missing)+len(c.Facts))
	facts := slices.Clone(c.Missing)
	slices.SortStableFunc(facts, func(x, y decant.Fact) int {
		if a, b := x.Kind.Sentence(), y.Kind.Sentence(); a != b {
			return after(a)
		}
		return cmp.Compare(y.Weight, x.Weight)
	})
	for i, f := range facts {
		if i == mostMissing {
			p.line("  and %d more", len(facts)-i)
			break
		}
		p.line("  m%d  %s: %s", f.Message, f.Kind, cut(plain(secret.Mask(f.Text)), 200))
	}
}

// after orders what comes first before what does not.
func after(first bool) int {
	if first {
		return -1
	}
	return 1
}

// Checkpoint returns the checkpoint with a handle, nil when there is none.
func (o *Overview) Checkpoint(h decant.Handle) *CheckpointRow {
	for i := range o.Checkpoints {
		if o.Checkpoints[i].Handle == h {
			return &o.Checkpoints[i]
		}
	}
	return nil
}
