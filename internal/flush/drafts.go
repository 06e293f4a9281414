package flush

import (
	"errors"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/memory"
)

// SilentToken is what a model answers when it has saved what it wants to save. It counts as a whole line and in this
// spelling only: "silently" is no silence.
const SilentToken = "SILENT"

// saveMark begins a line that is to be saved.
const saveMark = "SAVE:"

// Prompt asks a model to save what matters as lines of its answer. Nobody executes a call in the answer.
const Prompt = "Pre-compaction memory flush. The session is near its context limit. " +
	"Review the conversation and save any durable context to memory: write one line for each thing to remember, beginning with SAVE: and complete in itself. " +
	"Include user preferences, decisions, key facts, and anything that should persist. Leave out passwords, keys and tokens. Do not call any tool. " +
	"End with a line that says SILENT after saving, or reply with SILENT if nothing needs saving."

// ToolPrompt asks an agent that declares the tool save_memory to save what matters with it.
const ToolPrompt = "Pre-compaction memory flush. The session is near its context limit. " +
	"Review the conversation and save any durable context to memory using save_memory. " +
	"Include user preferences, decisions, key facts, and anything that should persist. " +
	"Reply with SILENT after saving, or SILENT if nothing needs saving."

// MaxSaves is how many items one answer, or one extraction, saves at most.
const MaxSaves = 20

// anywhere is the scope of a text that is only looked at.
var anywhere = memory.Scope{Level: memory.User}

// mostAnswer is how many bytes of an answer are read.
const mostAnswer = 1 << 20

// Parse returns the texts that an answer to Prompt saves, at most MaxSaves of at most MaxText characters, and whether
// it ends with a silent token, SilentToken or another line. What is not a line to save is ignored, and all that follows
// the token. Credentials are masked; a line with nothing else is not saved.
func Parse(answer, token string) (saves []string, silent bool) {
	for line := range strings.Lines(secret.MaskVisible(answer, mostAnswer)) { // also credentials of several lines are masked
		line = strings.TrimSpace(line)
		if line == token {
			return saves, true
		}
		line = strings.TrimPrefix(strings.TrimPrefix(line, "- "), "* ")
		line, ok := strings.CutPrefix(line, saveMark)
		if !ok || len(saves) == MaxSaves {
			continue
		}
		if it, err := memory.New("", memory.KindMemory, anywhere, line, memory.Source{}, time.Time{}); err == nil {
			saves = append(saves, it.Text)
		}
	}
	return saves, false
}

// A Draft is what may become an item.
type Draft struct {
	Kind     memory.Kind
	Text     string
	From, To int    // messages; 0: those of the Origin
	Corrects string // id of the item that it takes the place of; empty: none
}

// Drafts returns drafts of memories with the texts, of the first MaxSaves.
func Drafts(texts []string) []Draft {
	texts = texts[:min(MaxSaves, len(texts))]
	out := make([]Draft, len(texts))
	for i, t := range texts {
		out[i] = Draft{Kind: memory.KindMemory, Text: t}
	}
	return out
}

// FromFacts returns what is to be remembered of must-keep facts when no model can be asked: the user's instructions,
// preferences among them, and what was decided, in the order of the facts, at most MaxSaves.
func FromFacts(facts []decant.Fact) (out []Draft) {
	for i := range facts {
		f := &facts[i]
		told := f.Kind == decant.FactInstruction && f.Author == decant.AuthorUser
		if len(out) < MaxSaves && (told || f.Kind == decant.FactDecision) {
			out = append(out, Draft{Kind: memory.KindMemory, Text: f.Text, From: f.Message, To: f.Message})
		}
	}
	return out
}

// An Origin is what the items of one flush have in common.
type Origin struct {
	Scope  memory.Scope
	Source memory.Source
	Time   time.Time
	ID     func() (string, error) // makes ids, see NewID
}

// Items returns items of the drafts. Those that say nothing, or nothing but credentials, are left out.
func (o *Origin) Items(drafts []Draft) (out []memory.Item, err error) {
	for _, d := range drafts {
		from := o.Source
		if d.From > 0 {
			from.From, from.To = d.From, max(d.From, d.To)
		}
		id, err := o.ID()
		if err != nil {
			return nil, err
		}
		it, err := memory.New(id, d.Kind, o.Scope, d.Text, from, o.Time)
		if errors.Is(err, memory.ErrEmpty) || errors.Is(err, memory.ErrSecret) {
			continue
		}
		if err != nil {
			return nil, err
		}
		it.From = d.Corrects
		out = append(out, it)
	}
	return out, nil
}
