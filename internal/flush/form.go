package flush

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/provider"
)

// saveTool is the tool by which agents save what matters, where they have one.
const saveTool = "save_memory"

// A form is how a model is asked, and how its answer is read.
type form struct {
	prompt, silent string
	tool           bool // it saves with a tool of its own
}

// formOf returns the form of a conversation: by its own tool if it declares one, else by lines.
func formOf(o *Request) form {
	p := o.Preset.Flush
	f := form{prompt: p.Prompt, silent: cmp.Or(p.Token, SilentToken)}
	f.tool = slices.ContainsFunc(o.View.Fixed.Tools, func(t decant.Tool) bool { return t.Name == saveTool })
	switch {
	case f.prompt != "":
	case f.tool:
		f.prompt = ToolPrompt
	default:
		f.prompt = Prompt
	}
	return f
}

// read returns what an answer saves, and whether the model is done with it. Calls of other tools mean nothing.
func (f *form) read(a *provider.Answer) (drafts []Draft, silent bool) {
	texts, silent := Parse(a.Text, f.silent)
	drafts = Drafts(texts)
	if !f.tool {
		return drafts, silent
	}
	var blocks []struct {
		Type, Name string
		Input      map[string]any
	}
	if json.Unmarshal(a.Content, &blocks) != nil {
		return drafts, silent
	}
	for _, b := range blocks {
		if b.Type == "tool_use" && b.Name == saveTool && len(drafts) < MaxSaves {
			corrects, _ := b.Input[corrected].(string)
			delete(b.Input, corrected)
			drafts = append(drafts, Draft{Kind: memory.KindMemory, Text: longest(b.Input), Corrects: corrects})
		}
	}
	return drafts, silent
}

// corrected is the argument of save_memory that names the item whose place the new one takes, in the tool
// that package agent/remember has.
const corrected = "corrects"

// longest returns the longest text among the arguments of a call: what it saves, whatever its tool names it.
func longest(input map[string]any) (text string) {
	for _, v := range input {
		if s, ok := v.(string); ok && len(s) > len(text) {
			text = s
		}
	}
	return text
}
