// Package report says what a conversation holds and costs, in numbers first and in text for people
// second. It changes nothing and reads nothing but what it is given.
package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// An Inspection is what one conversation is and where its tokens went. All sizes are in tokens
// unless the name says otherwise. Shares are between 0 and 1.
type Inspection struct {
	Name     string   `json:"name"` // of the file or the session
	Format   string   `json:"format"`
	Agent    string   `json:"agent"`
	Models   []string `json:"models"` // that answered, the most used one first
	Window   int      `json:"window"`
	Assumed  bool     `json:"window_assumed"` // the catalogue does not know the model
	Messages int      `json:"messages"`
	Rounds   int      `json:"rounds"`
	Turns    int      `json:"turns"`

	Start time.Time `json:"start,omitzero"`
	End   time.Time `json:"end,omitzero"`

	Tokens      int        `json:"tokens"`         // everything the transcript holds, system and tools included
	Live        int        `json:"live"`           // in the context now; Inspect estimates it, a meter that knows the reported usage does better
	Measured    bool       `json:"live_measured"`  // the provider reported most of Live
	Estimated   int        `json:"live_estimated"` // what Live is by the estimate alone: what the provider reports beyond it, the file does not hold
	Since       int        `json:"messages_live"`  // in the context now; all of them where the client has not compacted
	Categories  []Category `json:"categories"`
	Tools       []toolRow  `json:"tools"`
	Files       []fileRow  `json:"files"`
	Largest     []result   `json:"largest_results"`
	Results     int        `json:"result_tokens"`
	Superseded  float64    `json:"superseded_share"` // of the tool results' tokens
	Duplicate   float64    `json:"duplicate_share"`
	Timeline    []point    `json:"timeline"`
	Requests    int        `json:"requests"` // whose usage is recorded
	Usage       Totals     `json:"usage"`
	Writes      *Writes    `json:"cache_writes,omitempty"` // why tokens were written to the cache; nil: nothing is known of any
	Compactions []boundary `json:"compactions"`
	Warnings    []string   `json:"warnings,omitempty"`
}

// A Category is one sort of content and its size.
type Category struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Blocks int    `json:"blocks"`
}

// A toolRow is what the calls of one tool brought and took.
type toolRow struct {
	Name      string     `json:"name"`
	Class     tool.Class `json:"class"`
	Calls     int        `json:"calls"`
	Errors    int        `json:"errors"`
	Arguments int        `json:"argument_tokens"`
	Results   int        `json:"result_tokens"`
}

// A fileRow is what reading and changing one file took.
type fileRow struct {
	Path    string `json:"path"`
	Reads   int    `json:"reads"`
	Changes int    `json:"changes"`
	Tokens  int    `json:"tokens"` // of the results and arguments that carried it
}

// A result is one tool result.
type result struct {
	Message string `json:"message"` // "m12"
	Tool    string `json:"tool"`
	About   string `json:"about"` // file, query or command
	Tokens  int    `json:"tokens"`
}

// A point is how full the window was when the model answered one message.
type point struct {
	Message  string    `json:"message"`
	Time     time.Time `json:"time,omitzero"`
	Tokens   int       `json:"tokens"`
	Measured bool      `json:"measured"` // reported by the provider, not estimated
}

// Totals is the sum of all recorded usage and its price.
type Totals struct {
	decant.Usage
	CacheHit float64 `json:"cache_hit_share"` // of the prompt tokens
	CostUSD  float64 `json:"cost_usd"`
	Priced   bool    `json:"priced"` // the prices of every model used are known
}

// A boundary is a compaction that the client itself made.
type boundary struct {
	Message string `json:"message"`
	Before  int    `json:"before"`
	After   int    `json:"after"`
	Summary int    `json:"summary"`
}

// Sizer gives the tokens of blocks; token.Estimator is one.
type Sizer interface {
	Block(b *decant.Block) int
	Fixed(f *decant.Fixed) int
}

// Inspect returns what c is and where its tokens went. Shares of what a compaction could drop
// (superseded, duplicate) and prices are left to the caller, which knows the reductions and the
// catalogue.
func Inspect(c *decant.Conversation, size Sizer) *Inspection {
	in := &Inspection{Agent: c.Agent, Messages: len(c.Messages), Rounds: len(decant.Rounds(c.Messages)), Turns: turns(c.Messages)}
	s := survey{in: in, size: size, calls: map[string]tool.Call{}, tools: map[string]*toolRow{}, files: map[string]*fileRow{}}
	s.fixed(&c.Fixed)
	s.kept = keptIn(c)
	for i := range c.Messages {
		s.message(&c.Messages[i], s.kept[i])
	}
	s.finish(c)
	return in
}

// turns counts what the user said, and not the stretch before the first words.
func turns(ms []decant.Message) int {
	n := 0
	for _, t := range decant.Turns(ms) {
		if slices.ContainsFunc(ms[t.Start:t.End], func(m decant.Message) bool { return m.Role == decant.RoleUser && m.UserWords() }) {
			n++
		}
	}
	return n
}

// survey walks a conversation once and adds up.
type survey struct {
	in      *Inspection
	size    Sizer
	base    int                  // tokens of system and tools
	context int                  // tokens in the window so far
	calls   map[string]tool.Call // newest call of each id
	tools   map[string]*toolRow
	files   map[string]*fileRow
	models  map[string]int
	kept    []bool // of the messages, whether they were kept behind a summary
}

func (s *survey) fixed(f *decant.Fixed) {
	s.base = s.size.Fixed(f)
	if s.base > 0 {
		s.add("system and tools", s.base)
	}
	s.context = s.base
	s.in.Tokens = s.base
}

// keptIn returns which messages of a conversation its client kept behind its newest summary.
func keptIn(c *decant.Conversation) []bool {
	live := c.Live()
	return append(make([]bool, len(c.Messages)-len(live)), decant.Kept(live)...)
}

func (s *survey) message(m *decant.Message, kept bool) {
	in := s.in
	in.spread(m.Time)
	before, total := s.context, 0
	if m.Compaction {
		s.context = s.base
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		n := s.size.Block(b)
		total += n
		s.add(category(m, b), n)
		s.block(m, b, n)
	}
	in.Tokens += total
	if m.Compaction {
		in.Compactions = append(in.Compactions, boundary{Message: m.Name(), Before: before, After: s.base + total, Summary: total})
	}
	s.context += total
	s.answered(m, kept)
}

// spread takes a moment into the time that the conversation took. A summary stands before what was kept
// of the time before it, so that messages need not be in the order of their times.
func (in *Inspection) spread(t time.Time) {
	if t.IsZero() {
		return
	}
	if in.Start.IsZero() || t.Before(in.Start) {
		in.Start = t
	}
	if t.After(in.End) {
		in.End = t
	}
}

// answered records the point of an assistant message on the timeline and its usage. What was reported
// for a message that was kept behind a summary was the size of another context.
func (s *survey) answered(m *decant.Message, kept bool) {
	if m.Role != decant.RoleAssistant {
		return
	}
	p := point{Message: m.Name(), Time: m.Time, Tokens: s.context}
	if u := m.Usage; u != nil && u.Prompt() > 0 {
		if !kept {
			p.Tokens, p.Measured = u.Context(), true
			s.context = p.Tokens
		}
		s.in.Requests++
		s.in.Usage.Usage = s.in.Usage.Add(*u)
	}
	if m.Model != "" {
		if s.models == nil {
			s.models = map[string]int{}
		}
		s.models[m.Model]++
	}
	s.in.Timeline = append(s.in.Timeline, p)
}

func category(m *decant.Message, b *decant.Block) string {
	switch {
	case m.Compaction:
		return "client's summaries"
	case b.Kind == decant.KindResult:
		return "tool results"
	case b.Kind == decant.KindUse:
		return "tool arguments"
	case b.Kind == decant.KindThinking:
		return "thinking"
	case b.Kind == decant.KindImage:
		return "images and documents"
	case b.Kind == decant.KindOpaque:
		return "other"
	case m.Role == decant.RoleSystem:
		return "system and tools"
	case b.Author == decant.AuthorUser:
		return "user's words"
	case m.Role == decant.RoleAssistant:
		return "assistant's text"
	default:
		return "client text"
	}
}

func (s *survey) add(name string, n int) {
	i := slices.IndexFunc(s.in.Categories, func(c Category) bool { return c.Name == name })
	if i < 0 {
		i = len(s.in.Categories)
		s.in.Categories = append(s.in.Categories, Category{Name: name})
	}
	s.in.Categories[i].Tokens += n
	s.in.Categories[i].Blocks++
}

// block adds a call or a result to its tool and its files.
func (s *survey) block(m *decant.Message, b *decant.Block, n int) {
	switch b.Kind {
	case decant.KindUse:
		call := tool.Parse(b.Name, b.Text())
		s.calls[b.CallID] = call
		row := s.tool(b.Name, call.Class)
		row.Calls++
		row.Arguments += n
		for _, f := range call.Files {
			s.file(f, n, true)
		}
	case decant.KindResult:
		call := s.calls[b.CallID]
		row := s.tool(cmp.Or(b.Name, call.Name, "(unknown)"), call.Class)
		row.Results += n
		if b.Error {
			row.Errors++
		}
		s.in.Results += n
		s.in.Largest = append(s.in.Largest, result{Message: m.Name(), Tool: row.Name, About: about(call), Tokens: n})
		for _, f := range call.Files {
			s.file(f, n, false)
		}
	}
}

func (s *survey) tool(name string, class tool.Class) *toolRow {
	row := s.tools[name]
	if row == nil {
		row = &toolRow{Name: name, Class: class}
		s.tools[name] = row
	}
	return row
}

// file adds the tokens of a call (which counts as a touch) or of its result.
func (s *survey) file(f tool.Touch, n int, call bool) {
	row := s.files[f.Key]
	if row == nil {
		row = &fileRow{Path: f.Path}
		s.files[f.Key] = row
	}
	row.Tokens += n
	switch {
	case !call:
	case f.Class == tool.Read:
		row.Reads++
	default:
		row.Changes++
	}
}

// about says what a call was about, in a few words.
func about(c tool.Call) string {
	return clip(cmp.Or(c.Path, c.Query, c.URL, c.Command), 60)
}

// clip cuts s to its first line and at most n characters.
func clip(s string, n int) string {
	for i, r := range s {
		if r == '\n' || n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// finish sorts the tables and cuts them to what a reader wants to see.
func (s *survey) finish(c *decant.Conversation) {
	in := s.in
	for i, m := range c.Live() {
		if i == 0 {
			in.Live = s.base
		}
		for k := range m.Blocks {
			in.Live += s.size.Block(&m.Blocks[k])
		}
		in.Since++
	}
	in.Estimated = in.Live
	for _, row := range s.tools {
		in.Tools = append(in.Tools, *row)
	}
	for _, row := range s.files {
		in.Files = append(in.Files, *row)
	}
	for name := range s.models {
		in.Models = append(in.Models, name)
	}
	if len(in.Models) == 0 && c.Model != "" {
		in.Models = []string{c.Model}
	}
	slices.SortFunc(in.Models, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.models[b], s.models[a]), cmp.Compare(a, b))
	})
	slices.SortStableFunc(in.Categories, func(a, b Category) int { return cmp.Compare(b.Tokens, a.Tokens) })
	slices.SortFunc(in.Tools, func(a, b toolRow) int {
		return cmp.Or(cmp.Compare(b.Results, a.Results), cmp.Compare(b.Arguments, a.Arguments), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(in.Files, func(a, b fileRow) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Path, b.Path))
	})
	slices.SortStableFunc(in.Largest, func(a, b result) int { return cmp.Compare(b.Tokens, a.Tokens) })
	in.Largest = in.Largest[:min(10, len(in.Largest))]
	in.Files = in.Files[:min(10, len(in.Files))]
	if u := in.Usage.Usage; u.Prompt() > 0 {
		in.Usage.CacheHit = float64(u.CacheRead) / float64(u.Prompt())
	}
}
