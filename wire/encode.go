package wire

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// defaultMaxOutput is written where the API demands a limit and the conversation knows none.
const defaultMaxOutput = 8192

// Encode writes what is live in a view as a request body of an API: Anthropic, OpenAIChat or
// OpenAIResponses. The body is new from the first byte to the last, and legal whatever the view held:
//
//   - call ids that repeat, or have characters that an API refuses, are renamed, results with them;
//     so are names of tools;
//   - every call has its result right behind it: results move there, one that is missing is said to be
//     missing, one without a call becomes text of the user;
//   - empty texts are left out, and arguments that are no JSON object are wrapped into one where the
//     API wants one;
//   - thinking and opaque blocks, which only the API that made them understands, are left out; of a
//     compaction block the summary stays as text;
//   - an image becomes a line that says that it was there: blocks do not hold the pixels.
//
// Other formats are an error.
func Encode(view *decant.Conversation, f Format) ([]byte, error) {
	switch f {
	case Anthropic:
		return encodeAnthropic(view), nil
	case OpenAIChat:
		return encodeChat(view), nil
	case OpenAIResponses:
		return encodeResponses(view), nil
	}
	return nil, fmt.Errorf("write %s: a conversation can be written from scratch as %s, %s or %s only",
		f, Anthropic, OpenAIChat, OpenAIResponses)
}

func encodeAnthropic(view *decant.Conversation) []byte {
	limit := view.MaxOutput
	if limit == 0 {
		limit = defaultMaxOutput
	}
	o := new(object)
	o.given("model", view.Model).raw("max_tokens", fmt.Append(nil, limit))
	if system := systemText(view); len(system) > 0 {
		o.raw("system", list(texts(system, "text")))
	}
	tools(o, view, func(t tool) []byte {
		return new(object).str("name", t.name).str("description", t.description).raw("input_schema", t.schema).end()
	})
	ms := alternate(normalize(view))
	return o.raw("messages", list(allItems(ms, anthropicDialect{}))).end()
}

func encodeChat(view *decant.Conversation) []byte {
	o := new(object)
	o.given("model", view.Model)
	if view.MaxOutput > 0 {
		o.raw("max_completion_tokens", fmt.Append(nil, view.MaxOutput))
	}
	var items [][]byte
	for _, s := range systemText(view) {
		items = append(items, new(object).str("role", "system").str("content", s).end())
	}
	items = append(items, allItems(normalize(view), chatDialect{})...)
	o.raw("messages", list(items))
	tools(o, view, func(t tool) []byte {
		f := new(object).str("name", t.name).str("description", t.description).raw("parameters", t.schema).end()
		return new(object).str("type", "function").raw("function", f).end()
	})
	return o.end()
}

func encodeResponses(view *decant.Conversation) []byte {
	o := new(object)
	o.given("model", view.Model)
	if view.MaxOutput > 0 {
		o.raw("max_output_tokens", fmt.Append(nil, view.MaxOutput))
	}
	system := systemText(view)
	if len(system) > 0 {
		o.str("instructions", joinTexts(system))
	}
	o.raw("input", list(allItems(normalize(view), responsesDialect{})))
	tools(o, view, func(t tool) []byte {
		return new(object).str("type", "function").str("name", t.name).str("description", t.description).
			raw("parameters", t.schema).end()
	})
	return o.end()
}

// tools adds the list of tools to a request, each written by write; nothing when there are none. Tools that the
// server runs have no schema and are left out.
func tools(o *object, view *decant.Conversation, write func(tool) []byte) {
	var out [][]byte
	for i := range view.Fixed.Tools {
		if t := toolOf(&view.Fixed.Tools[i]); t.schema != nil {
			out = append(out, write(t))
		}
	}
	if len(out) > 0 {
		o.raw("tools", list(out))
	}
}

// A tool is a tool definition in the words that all APIs share.
type tool struct {
	name, description string
	schema            []byte // of its input; nil when there is none
}

// toolOf takes a definition of any API apart.
func toolOf(def *decant.Tool) tool {
	in := newSource([]byte(def.Schema.Text()), 0)
	at := jsonspan.Span{End: len(in.src)}
	if f := in.find(at, "function"); !f.IsZero() {
		at = f
	}
	t := tool{name: safeName(def.Name), description: in.decoded(in.find(at, "description"))}
	for _, name := range []string{"input_schema", "parameters"} {
		if v := in.find(at, name); in.begins(v, '{') {
			t.schema = v.Of(in.src)
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
		out = append(out, new(object).str("type", kind).str("text", s).end())
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
func allItems(ms []decant.Message, d dialect) [][]byte {
	var out [][]byte
	for i := range ms {
		out = append(out, d.items(&ms[i], nil)...)
	}
	return out
}
