package sandbox

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// kindOf returns the type of an item, which messages may leave out.
func (it *shownItem) kindOf() string {
	kind := it.str("type")
	if kind == "" && it.str("role") != "" {
		return "message"
	}
	if kind == "" && it.str("id") != "" {
		return "item_reference"
	}
	return kind
}

// call returns the id of a call that somebody has to answer, and the name of its tool; "" for everything else.
func (it *shownItem) call() (id, name string) {
	switch kind := it.kindOf(); kind {
	case "function_call", "custom_tool_call":
		return it.str("call_id"), it.str("name")
	case "local_shell_call", "shell_call", "apply_patch_call", "computer_call", "tool_search_call":
		return it.str("call_id"), strings.TrimSuffix(kind, "_call")
	case "program":
		return it.str("call_id"), kind
	case "mcp_approval_request":
		return it.str("id"), it.str("name")
	}
	return "", ""
}

// answers returns the id of the call that an item answers, and whether it answers any. A search that the server made
// has none.
func (it *shownItem) answers() (id string, ok bool) {
	switch kind := it.kindOf(); {
	case kind == "mcp_approval_response":
		return it.str("approval_request_id"), true
	case kind == "local_shell_call_output" && it.get("call_id") == nil:
		return it.str("id"), true
	case strings.HasSuffix(kind, "_output"):
		return it.str("call_id"), kind != "tool_search_output" || it.get("call_id") != nil
	}
	return "", false
}

// arguments returns what a call is made with, as an object.
func (it *shownItem) arguments() []byte {
	for _, name := range []string{"action", "operation", "arguments", "code", "input"} {
		switch v := it.get(name); {
		case v == nil:
		case v.kind == '{':
			return v.raw
		default:
			return arguments(v.text)
		}
	}
	return []byte("{}")
}

// output returns the text of what a call brought.
func (it *shownItem) output() string {
	if it.kindOf() == "program_output" {
		return it.str("result")
	}
	out := it.get("output").textOf()
	for _, part := range it.get("output").list() { // of a shell
		out += part.str("stdout") + part.str("stderr")
	}
	return out
}

// configures reports whether an item says how the model works.
func (it *shownItem) configures() bool {
	role := it.str("role")
	return it.kindOf() == "configuration_update" || role == "system" || role == "developer"
}

// speaks reports whether an item is one that the model said.
func (it *shownItem) speaks() bool {
	kind := it.kindOf()
	return kind == "message" && it.str("role") == "assistant" || kind == "compaction" || kind == "program" ||
		strings.HasSuffix(kind, "_call") || kind == "mcp_approval_request" || kind == "mcp_list_tools"
}

// A tool is one that the model may call.
type tool struct {
	kind, name, namespace string
	async                 bool
	schema                *node
}

// callable are the kinds of tools whose calls somebody else has to answer.
var callable = map[string]string{
	"function": "function_call", "custom": "custom_tool_call", "shell": "shell_call", "local_shell": "local_shell_call",
	"tool_search": "tool_search_call", "apply_patch": "apply_patch_call", "programmatic_tool_calling": "program",
}

// addTools adds definitions of tools, also those within namespaces.
func (q *input) addTools(defs []*node, namespace string) {
	for _, d := range defs {
		kind, name := d.str("type"), d.str("name")
		if kind == "namespace" {
			q.addTools(d.get("tools").list(), name)
			continue
		}
		if callable[kind] == "" {
			continue
		}
		if name == "" {
			name = strings.TrimSuffix(callable[kind], "_call")
		}
		q.tools = append(q.tools, tool{kind, name, namespace, d.is("async"), d.get("parameters")})
	}
}

// tool returns the tool of a name; a function for a name that nobody defined.
func (q *input) tool(name string) tool {
	if i := slices.IndexFunc(q.tools, func(t tool) bool { return t.name == name }); i >= 0 {
		return q.tools[i]
	}
	return tool{kind: "function", name: name}
}

// prompt returns the request as a model reads it.
func (q *input) prompt(session string) *Prompt {
	choice := q.body.get("tool_choice")
	p := &Prompt{Model: q.body.str("model"), Session: session, MaxTokens: q.max, Thinking: "disabled"}
	p.Choice, p.Named = choice.word(), choice.str("name")
	if q.reasons() {
		p.Thinking = "adaptive"
	}
	if n := q.body.get("parallel_tool_calls"); n != nil {
		p.OneCall = n.kind == 'f'
	}
	for _, t := range q.tools {
		p.Tools = append(p.Tools, t.name)
		p.Schemas = append(p.Schemas, t.schema.source())
	}
	if s := q.body.str("instructions"); s != "" {
		p.System = append(p.System, s)
	}
	for i := range q.shown {
		p.read(&q.shown[i])
	}
	return p
}

// read adds an item to a prompt.
func (p *Prompt) read(it *shownItem) {
	call, name := it.call()
	switch kind := it.kindOf(); {
	case kind == "message" && it.configures():
		p.System = append(p.System, said(it.node))
	case kind == "message":
		p.add(decant.Role(it.str("role")), it.spoken()...)
	case kind == "reasoning":
		p.add(decant.RoleAssistant, Block{Kind: decant.KindThinking, Text: it.text})
	case kind == "compaction":
		p.add(decant.RoleUser, text(it.text))
	case call != "":
		p.add(decant.RoleAssistant, Block{Kind: decant.KindUse, ID: call, Name: name, Input: it.arguments()})
	case it.configures(): // the tools are known already
	default:
		if id, ok := it.answers(); ok {
			p.add(decant.RoleUser, Block{Kind: decant.KindResult, ID: id, Text: it.output()})
			return
		}
		p.add(decant.RoleAssistant, Block{Kind: decant.KindOpaque, Text: string(it.raw)})
	}
}

// members returns what the item of a call holds besides its ids, and the text that a stream brings in pieces.
func (t tool) members(input []byte) (members object, streams string) {
	switch t.kind {
	case "custom":
		text := lone(input)
		return object{"name", t.name, "input", text}, text
	case "programmatic_tool_calling":
		text := lone(input)
		return object{"code", text, "fingerprint", callName("fp", []byte(text), [16]byte{}, 0, 0)}, ""
	case "shell", "local_shell":
		return object{"action", input}, ""
	case "apply_patch":
		return object{"operation", input}, ""
	case "tool_search":
		return object{"execution", "client", "arguments", input}, ""
	}
	return object{"name", t.name, "arguments", string(input)}, string(input)
}

// lone returns the text that is all an object holds; of others the JSON.
func lone(input []byte) string {
	if n, err := parse(input); err == nil && len(n.items) == 1 && n.items[0].kind == '"' {
		return n.items[0].text
	}
	return string(input)
}
