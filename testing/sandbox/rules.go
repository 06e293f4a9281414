package sandbox

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// Rules is a model that works without being intelligent: in each turn it makes a number of tool
// calls and then says that it is done. Asked "What is NAME?" it searches what it can see for
// "NAME is VALUE" and answers with the value, or that it does not know, which shows whether a
// fact is still in its context. A request without tools gets a title of its first words.
//
// The zero value makes one call in each turn.
type Rules struct {
	// Calls is the number of tool calls in a turn. Zero means 1, a negative number none.
	Calls int

	// Parallel is the number of calls in one answer. Zero means 1.
	Parallel int

	// OutputKB is the size that the result of a shell call shall have, in units of 1,024 bytes.
	// Zero means 1.
	OutputKB int

	// Thought is how much it thinks before each answer, in bytes, when thinking is on. Zero means
	// one short sentence.
	Thought int

	// Input returns the arguments of the n-th call, counted from 1, of the given tool. Nil means a
	// shell command that prints OutputKB, which suits tools called Bash or bash.
	Input func(tool string, n int) stdjson.RawMessage

	mu       sync.Mutex
	sessions map[string]*progress
}

// progress is how far a session is.
type progress struct {
	made  int // calls in all
	since int // calls in this turn
}

// Answer acts on the last thing the user said.
func (r *Rules) Answer(_ context.Context, p *Prompt) (Answer, error) {
	if len(p.Tools) == 0 {
		return Answer{Blocks: r.think(p, "A title.", text("Title: "+firstWords(p)))}, nil
	}
	if name := asked(p.Last(decant.RoleUser)); name != "" && !p.answersCalls() {
		return Answer{Blocks: r.think(p, "A question about "+name+".", text(recall(p, name)))}, nil
	}
	first, n := r.advance(p)
	if n == 0 {
		return Answer{Blocks: r.think(p, "All steps are done.", text(fmt.Sprintf("All %d steps done.", first)))}, nil
	}
	note := fmt.Sprintf("Step %d.", first+1)
	blocks := r.think(p, note, text(note))
	tool := pick(p)
	for i := range n {
		blocks = append(blocks, Block{Kind: decant.KindUse, Name: tool, Input: r.input(tool, first+i+1)})
	}
	return Answer{Blocks: blocks}, nil
}

// advance takes the next calls of a session. It returns how many were made before and how many are
// to be made now, none at the end of a turn.
func (r *Rules) advance(p *Prompt) (before, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessions == nil {
		r.sessions = map[string]*progress{}
	}
	s := r.sessions[p.Session]
	if s == nil {
		s = &progress{}
		r.sessions[p.Session] = s
	}
	calls, parallel := r.Calls, max(r.Parallel, 1)
	if calls == 0 {
		calls = 1
	}
	if p.OneCall {
		parallel = 1
	}
	before, n = s.made, max(0, min(parallel, calls-s.since))
	switch p.Choice {
	case "none":
		n = 0
	case "any", "tool":
		n = max(n, 1)
	}
	s.made, s.since = s.made+n, s.since+n
	if n == 0 {
		s.since = 0
	}
	return before, n
}

func text(s string) Block { return Block{Kind: decant.KindText, Text: s} }

// think returns the blocks behind a thought. The server leaves it out when thinking is off.
func (r *Rules) think(p *Prompt, thought string, blocks ...Block) []Block {
	if !p.Thinking.On() {
		return blocks
	}
	if more := r.Thought - len(thought); more > 0 {
		thought += strings.Repeat(" I look at it again.", more/20+1)[:more]
	}
	return append([]Block{{Kind: decant.KindThinking, Text: thought}}, blocks...)
}

// pick chooses the tool that the client demands, else a shell, else the first tool.
func pick(p *Prompt) string {
	for _, tool := range []string{p.Named, "Bash", "bash"} {
		if slices.Contains(p.Tools, tool) {
			return tool
		}
	}
	return p.Tools[0]
}

// lineBytes is about how long a line is that the shell command prints.
const lineBytes = 52

func (r *Rules) input(tool string, n int) stdjson.RawMessage {
	if r.Input != nil {
		return r.Input(tool, n)
	}
	command := fmt.Sprintf(`for i in $(seq 1 %d); do echo "step %d line $i value_%d_$i = compute(alpha, beta_$i)"; done`,
		max(r.OutputKB, 1)*1024/lineBytes, n, n)
	out := jsonspan.AppendQuote([]byte(`{"command":`), command)
	return append(out, `,"description":"print"}`...)
}

var question = lazyregexp.New(`(?i)\bwhat is ([\w.-]*\w)\?`)

// asked returns the name that the user asks for, "" when there is no question.
func asked(user string) string {
	if m := question.FindStringSubmatch(user); m != nil {
		return m[1]
	}
	return ""
}

// recall answers a question from what the prompt holds, the newest statement first.
func recall(p *Prompt, name string) string {
	says := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(name) + ` is ([\w./:-]*\w)`)
	for i := len(p.Messages) - 1; i >= 0; i-- {
		for _, b := range slices.Backward(p.Messages[i].Blocks) {
			if m := says.FindStringSubmatch(b.Text); m != nil {
				return name + " is " + m[1] + "."
			}
		}
	}
	return "I do not know what " + name + " is."
}

// answersCalls reports whether the last message of the user brings results.
func (p *Prompt) answersCalls() bool {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		m := &p.Messages[i]
		if m.Role == decant.RoleUser {
			return slices.ContainsFunc(m.Blocks, func(b Block) bool { return b.Kind == decant.KindResult })
		}
	}
	return false
}

func firstWords(p *Prompt) string {
	words := strings.Fields(p.Last(decant.RoleUser))
	return strings.Join(words[:min(len(words), 6)], " ")
}
