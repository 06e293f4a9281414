package reduce

import (
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant"
)

// quarters counts tokens as a model roughly does: one for every four bytes.
type quarters struct{}

func (quarters) Count(text string) int { return (len(text) + 3) / 4 }

var _ decant.Counter = quarters{}

// script builds a conversation from the sections of a txtar archive. A section "user",
// "assistant" or "thinking" is text; "NAME ARGS" is a call of a tool in a message of its own, with the
// section's text as its result; "+ NAME ARGS" is one more call in the same message; "! NAME ARGS" is a call that
// failed.
type script struct {
	c    decant.Conversation
	last string // how the newest message was made: "use" while its results may still be joined by others
	ids  int
}

func conversation(files []txtar.File) *decant.Conversation {
	var s script
	for _, f := range files {
		text := strings.TrimSuffix(string(f.Data), "\n")
		switch f.Name {
		case "user":
			s.message(decant.RoleUser, decant.Block{
				Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text(text),
			})
		case "assistant":
			s.message(decant.RoleAssistant, decant.Block{
				Kind: decant.KindText, Author: decant.AuthorModel, Content: decant.Text(text),
			})
		case "thinking":
			s.message(decant.RoleAssistant, decant.Block{
				Kind: decant.KindThinking, Author: decant.AuthorModel, Content: decant.Text(text), Signed: true,
			})
		default:
			s.call(f.Name, text)
		}
	}
	return &s.c
}

func (s *script) message(role decant.Role, b decant.Block) {
	b.Ref = decant.Ref{Message: len(s.c.Messages) + 1}
	s.c.Messages = append(s.c.Messages, decant.Message{Number: b.Ref.Message, Role: role, Blocks: []decant.Block{b}})
	s.last = ""
}

func (s *script) call(line, result string) {
	line, join := strings.CutPrefix(line, "+ ")
	line, failed := strings.CutPrefix(line, "! ")
	name, args, _ := strings.Cut(line, " ")
	s.ids++
	id := fmt.Sprintf("call_%d", s.ids)
	use := decant.Block{
		Kind: decant.KindUse, Author: decant.AuthorModel, Name: name, CallID: id, Content: decant.Text(args),
	}
	res := decant.Block{
		Kind: decant.KindResult, Author: decant.AuthorTool, Name: name, CallID: id, Error: failed,
		Content: decant.Text(result),
	}
	if !join || s.last != "use" {
		s.message(decant.RoleAssistant, use)
		s.message(decant.RoleUser, res)
		s.last = "use"
		return
	}
	n := len(s.c.Messages)
	for i, b := range []decant.Block{use, res} {
		m := &s.c.Messages[n-2+i]
		b.Ref = decant.Ref{Message: m.Number, Block: len(m.Blocks)}
		m.Blocks = append(m.Blocks, b)
	}
}

// print writes decisions as a reader wants to see them.
func print(ds []decant.Decision) string {
	var out strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&out, "m%d", d.Target.Message)
		if d.Target.Block > 0 {
			fmt.Fprintf(&out, ".%d", d.Target.Block)
		}
		fmt.Fprintf(&out, " %s by %s: %s, %d -> %d tokens\n", d.Kind, d.Reduction, d.Reason, d.Before, d.After)
		for line := range strings.Lines(d.Text) {
			fmt.Fprintf(&out, "    %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	return out.String()
}
