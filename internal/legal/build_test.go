package legal_test

import (
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/token"
)

// Short ways to write conversations.

func text(s string) decant.Block {
	return decant.Block{Kind: decant.KindText, Content: decant.Text(s)}
}

func use(id string) decant.Block {
	return decant.Block{Kind: decant.KindUse, CallID: id, Name: "Read", Content: decant.Text("{}")}
}

func result(id string) decant.Block {
	return decant.Block{Kind: decant.KindResult, CallID: id, Name: "Read", Content: decant.Text("output of " + id)}
}

func think(s string) decant.Block {
	return decant.Block{Kind: decant.KindThinking, Signed: true, Content: decant.Text(s)}
}

func opaque(json string) decant.Block {
	return decant.Block{Kind: decant.KindOpaque, Content: decant.Text(json)}
}

func marked(b decant.Block, lifetime string) decant.Block {
	b.Cache = lifetime
	return b
}

func user(bs ...decant.Block) decant.Message {
	return decant.Message{Role: decant.RoleUser, Blocks: bs}
}

func model(bs ...decant.Block) decant.Message {
	return decant.Message{Role: decant.RoleAssistant, Blocks: bs}
}

func tool(bs ...decant.Block) decant.Message {
	return decant.Message{Role: decant.RoleTool, Blocks: bs}
}

func system(bs ...decant.Block) decant.Message {
	return decant.Message{Role: decant.RoleSystem, Blocks: bs}
}

// talk numbers messages and blocks as a parser does.
func talk(ms ...decant.Message) *decant.Conversation {
	for i := range ms {
		ms[i].Number = i + 1
		for k := range ms[i].Blocks {
			ms[i].Blocks[k].Ref = decant.Ref{Message: i + 1, Block: k}
		}
	}
	return &decant.Conversation{Messages: ms}
}

// edit returns a view of c whose messages are changed copies.
func edit(c *decant.Conversation, change func(ms []decant.Message) []decant.Message) *decant.Conversation {
	ms := make([]decant.Message, len(c.Messages))
	for i := range ms {
		ms[i] = c.Messages[i]
		ms[i].Blocks = append([]decant.Block(nil), c.Messages[i].Blocks...)
	}
	return c.With(change(ms))
}

func rulesFor(tb testing.TB, api legal.API, id string, thinking decant.Thinking) legal.Rules {
	tb.Helper()
	c, err := token.Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	m, _ := c.Lookup(id)
	return legal.RulesFor(api, m, thinking)
}

func rulesOf(vs []legal.Violation) (out []legal.Rule) {
	for _, v := range vs {
		out = append(out, v.Rule)
	}
	return out
}

// served returns a call that the server answers itself.
func served(id string) decant.Block {
	return opaque(`{"type":"server_tool_use","id":"` + id + `","name":"web_search","input":{}}`)
}

// serves returns the result of such a call.
func serves(id string) decant.Block {
	return opaque(`{"type":"web_search_tool_result","tool_use_id":"` + id + `","content":[]}`)
}

// paired returns an item of the Responses API that is neither a call of a tool nor its result, with an id.
func paired(kind, id string) decant.Block {
	b := opaque(`{"type":"` + kind + `","call_id":"` + id + `"}`)
	b.CallID = id
	return b
}
