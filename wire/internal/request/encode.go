package request

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// defaultMaxOutput is written where the API demands a limit and the conversation knows none.
const defaultMaxOutput = 8192

// EncodeAnthropic writes a request of the Messages API.
func EncodeAnthropic(view *decant.Conversation) []byte {
	limit := view.MaxOutput
	if limit == 0 {
		limit = defaultMaxOutput
	}
	o := new(source.Object)
	o.Given("model", view.Model).Raw("max_tokens", fmt.Append(nil, limit))
	if system := systemText(view); len(system) > 0 {
		o.Raw("system", source.List(texts(system, "text")))
	}
	ms := alternate(normalize(view))
	n := tools(o, view, func(t tool) []byte {
		return new(source.Object).Str("name", t.name).Str("description", t.description).Raw("input_schema", t.schema).End()
	})
	if n == 0 {
		called(o, ms)
	}
	return o.Raw("messages", source.List(allItems(ms, AnthropicDialect{}))).End()
}

// EncodeChat writes a request of the Chat Completions API. Images are written where images says so and their bytes are there.
func EncodeChat(view *decant.Conversation, images bool) []byte {
	o := new(source.Object)
	o.Given("model", view.Model)
	if view.MaxOutput > 0 {
		o.Raw("max_completion_tokens", fmt.Append(nil, view.MaxOutput))
	}
	var items [][]byte
	for _, s := range systemText(view) {
		items = append(items, new(source.Object).Str("role", "system").Str("content", s).End())
	}
	items = append(items, allItems(normalized(view, images), chatDialect{})...)
	o.Raw("messages", source.List(items))
	tools(o, view, func(t tool) []byte {
		f := new(source.Object).Str("name", t.name).Str("description", t.description).Raw("parameters", t.schema).End()
		return new(source.Object).Str("type", "function").Raw("function", f).End()
	})
	return o.End()
}

// EncodeResponses writes a request of the Responses API.
func EncodeResponses(view *decant.Conversation) []byte {
	o := new(source.Object)
	o.Given("model", view.Model)
	if view.MaxOutput > 0 {
		o.Raw("max_output_tokens", fmt.Append(nil, view.MaxOutput))
	}
	system := systemText(view)
	if len(system) > 0 {
		o.Str("instructions", joinTexts(system))
	}
	o.Raw("input", source.List(allItems(normalize(view), ResponsesDialect{})))
	tools(o, view, func(t tool) []byte {
		return new(source.Object).Str("type", "function").Str("name", t.name).Str("description", t.description).
			Raw("parameters", t.schema).End()
	})
	return o.End()
}

// tools adds the list of tools to a request, each written by write, and returns how many; nothing when there are none. Tools that the
// server runs have no schema and are left out.
func tools(o *source.Object, view *decant.Conversation, write func(tool) []byte) int {
	var out [][]byte
	for i := range view.Fixed.Tools {
		if t := toolOf(&view.Fixed.Tools[i]); t.schema != nil {
			out = append(out, write(t))
		}
	}
	if len(out) > 0 {
		o.Raw("tools", source.List(out))
	}
	return len(out)
}

// called defines the tools that are called, of which nothing but the name is known: the Messages API takes no calls
// without tools.
func called(o *source.Object, ms []decant.Message) {
	var out [][]byte
	seen := map[string]bool{}
	for i := range ms {
		for k := range ms[i].Blocks {
			if b := &ms[i].Blocks[k]; b.Kind == decant.KindUse && !seen[b.Name] {
				seen[b.Name] = true
				schema := new(source.Object).Str("type", "object").End()
				out = append(out, new(source.Object).Str("name", b.Name).Raw("input_schema", schema).End())
			}
		}
	}
	if len(out) > 0 {
		o.Raw("tools", source.List(out))
	}
}

// A tool is a tool definition in the words that all APIs share.
type tool struct {
	name, description string
	schema            []byte // of its input; nil when there is none
}

// toolOf takes a definition of any API apart.
func toolOf(def *decant.Tool) tool {
	in := source.NewSource([]byte(def.Schema.Text()), 0)
	at := jsonspan.Span{End: len(in.Src)}
	if f := in.Find(at, "function"); !f.IsZero() {
		at = f
	}
	t := tool{name: safeName(def.Name), description: in.Decoded(in.Find(at, "description"))}
	for _, name := range []string{"input_schema", "parameters"} {
		if v := in.Find(at, name); in.Begins(v, '{') {
			t.schema = v.Of(in.Src)
		}
	}
	return t
}

// systemText returns the texts of the system prompt that are not blank.
func systemText(view *decant.Conversation) []string {
	var out []string
	for i := range view.Fixed.System {
		if t := view.Fixed.System[i].Text(); !isBlank(t) {
			out = append(out, t)
		}
	}
	return out
}

// texts returns a part of a kind for each text.
func texts(ss []string, kind string) [][]byte {
	var out [][]byte
	for _, s := range ss {
		out = append(out, new(source.Object).Str("type", kind).Str("text", s).End())
	}
	return out
}

func joinTexts(ss []string) string {
	var out []byte
	for i, s := range ss {
		if i > 0 {
			out = append(out, "\n\n"...)
		}
		out = append(out, s...)
	}
	return string(out)
}

// allItems returns the items of all messages.
func allItems(ms []decant.Message, d render.Dialect) [][]byte {
	var out [][]byte
	for i := range ms {
		out = append(out, d.Items(&ms[i], nil)...)
	}
	return out
}
