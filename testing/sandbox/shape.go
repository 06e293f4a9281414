package sandbox

import (
	"slices"
	"strings"
)

// A want says what a field's value must be.
type want uint8

const (
	anything want = iota
	isText
	isInt
	isNumber
	isBool
	isObject
	isList
	isMarker // a cache marker
	isSource // of an image or a document
	isResult // content of a tool result
	isTexts  // a string or a list of text blocks
)

// A field is one member that an object may have.
type field struct {
	name string
	want want
	need bool   // it must be there
	beta string // it exists only with one of these betas, with bars between them
}

const required = true

// The fields of a request body (docs/reference/anthropic.md, "The request"). What other capabilities of the API would
// need (threads, diagnostics) is missing on purpose: it is refused as any unknown field is.
var messageFields = []field{
	{"model", isText, required, ""},
	{"max_tokens", isInt, required, ""},
	{"messages", isList, required, ""},
	{"system", isTexts, false, ""},
	{"tools", isList, false, ""},
	{"tool_choice", isObject, false, ""},
	{"thinking", isObject, false, ""},
	{"output_config", isObject, false, ""},
	{"stop_sequences", isList, false, ""},
	{"temperature", isNumber, false, ""},
	{"top_p", isNumber, false, ""},
	{"top_k", isInt, false, ""},
	{"stream", isBool, false, ""},
	{"metadata", isObject, false, ""},
	{"service_tier", isText, false, ""},
	{"speed", isText, false, ""},
	{"inference_geo", isText, false, ""},
	{"container", anything, false, ""},
	{"cache_control", isMarker, false, ""},
	{"context_management", isObject, false, betaEditing + "|" + betaCompact},
	{"compaction", isObject, false, ""},
}

// The fields of a count_tokens body (docs/reference/anthropic.md, "Token counting"): no output limit and no sampling.
var countFields = []field{
	{"model", isText, required, ""},
	{"messages", isList, required, ""},
	{"system", isTexts, false, ""},
	{"tools", isList, false, ""},
	{"tool_choice", isObject, false, ""},
	{"thinking", isObject, false, ""},
	{"output_config", isObject, false, ""},
	{"cache_control", isMarker, false, ""},
	{"context_management", isObject, false, betaEditing + "|" + betaCompact},
	{"compaction", isObject, false, ""},
}

// The fields of parts of a request.
var (
	messageShape  = []field{{"role", isText, required, ""}, {"content", anything, required, ""}, {"output_config", isObject, false, betaTurns}}
	metadataShape = []field{{"user_id", isText, false, ""}}
	choiceShape   = []field{{"type", isText, required, ""}, {"name", isText, false, ""}, {"disable_parallel_tool_use", isBool, false, ""}}
	thinkingShape = []field{{"type", isText, required, ""}, {"budget_tokens", isInt, false, ""}, {"display", isText, false, ""}, {"block_binding", isObject, false, betaBinding}}
	bindingShape  = []field{{"prefix_mismatch_behavior", isText, required, ""}}
	outputShape   = []field{{"effort", isText, false, ""}, {"format", isObject, false, ""}, {"task_budget", isObject, false, betaBudgets}}
	markerShape   = []field{{"type", isText, required, ""}, {"ttl", isText, false, ""}, {"scope", isText, false, betaScope}}
	contextShape  = []field{{"edits", isList, false, ""}}
	toolShape     = []field{
		{"name", isText, required, ""}, {"input_schema", isObject, required, ""}, {"type", isText, false, ""},
		{"description", isText, false, ""}, {"cache_control", isMarker, false, ""}, {"strict", isBool, false, ""},
		{"eager_input_streaming", isBool, false, ""}, {"defer_loading", isBool, false, ""},
		{"allowed_callers", isList, false, ""}, {"input_examples", isList, false, ""},
	}
)

// The fields of blocks (docs/reference/anthropic.md, "Content blocks"), their type aside. Server tools' results differ in name only.
var (
	serverUse    = []field{{"id", isText, required, ""}, {"name", isText, required, ""}, {"input", isObject, required, ""}, {"server_name", isText, false, ""}, {"caller", anything, false, ""}, {"cache_control", isMarker, false, ""}}
	serverResult = []field{{"tool_use_id", isText, required, ""}, {"content", anything, required, ""}, {"is_error", isBool, false, ""}, {"caller", anything, false, ""}, {"cache_control", isMarker, false, ""}}
)

var blockShapes = map[string][]field{
	"text":              {{"text", isText, required, ""}, {"citations", anything, false, ""}, {"cache_control", isMarker, false, ""}},
	"image":             {{"source", isSource, required, ""}, {"cache_control", isMarker, false, ""}},
	"document":          {{"source", isSource, required, ""}, {"title", isText, false, ""}, {"context", isText, false, ""}, {"citations", isObject, false, ""}, {"cache_control", isMarker, false, ""}},
	"search_result":     {{"source", isText, required, ""}, {"title", isText, required, ""}, {"content", isTexts, required, ""}, {"citations", isObject, false, ""}, {"cache_control", isMarker, false, ""}},
	"tool_use":          {{"id", isText, required, ""}, {"name", isText, required, ""}, {"input", isObject, required, ""}, {"caller", anything, false, ""}, {"cache_control", isMarker, false, ""}},
	"tool_result":       {{"tool_use_id", isText, required, ""}, {"content", isResult, false, ""}, {"is_error", isBool, false, ""}, {"cache_control", isMarker, false, ""}},
	"tool_reference":    {{"tool_name", isText, required, ""}, {"cache_control", isMarker, false, ""}},
	"thinking":          {{"thinking", isText, required, ""}, {"signature", isText, required, ""}},
	"redacted_thinking": {{"data", isText, required, ""}},
	"container_upload":  {{"file_id", isText, required, ""}, {"cache_control", isMarker, false, ""}},
	compactionKind:      compactionShape,

	"server_tool_use":                        serverUse,
	"mcp_tool_use":                           serverUse,
	"web_search_tool_result":                 serverResult,
	"web_fetch_tool_result":                  serverResult,
	"code_execution_tool_result":             serverResult,
	"bash_code_execution_tool_result":        serverResult,
	"text_editor_code_execution_tool_result": serverResult,
	"tool_search_tool_result":                serverResult,
	"mcp_tool_result":                        serverResult,
	"advisor_tool_result":                    serverResult,
}

// The fields of a source, by its type.
var sourceShapes = map[string][]field{
	"base64":  {{"media_type", isText, required, ""}, {"data", isText, required, ""}},
	"text":    {{"media_type", isText, required, ""}, {"data", isText, required, ""}},
	"content": {{"content", anything, required, ""}},
	"url":     {{"url", isText, required, ""}},
	"file":    {{"file_id", isText, required, ""}},
}

// A shaper checks that values have the fields and types they must have. All its methods return the
// first refusal, with the path to it.
type shaper struct{ betas betas }

// object checks an object against its fields. A field of an absent beta does not exist.
func (s shaper) object(path string, n *node, shape []field) *apiError {
	if n.kind != '{' {
		return invalid("%s: Input should be an object", path)
	}
	for i, name := range n.names {
		at := join(path, name)
		k := slices.IndexFunc(shape, func(f field) bool { return f.name == name })
		if k < 0 || !s.betas.permit(shape[k].beta) {
			return invalid("%s: Extra inputs are not permitted", at)
		}
		if n.items[i].kind == 'n' && !shape[k].need {
			continue
		}
		if err := s.value(at, n.items[i], shape[k].want); err != nil {
			return err
		}
	}
	for _, f := range shape {
		if f.need && n.get(f.name) == nil {
			return invalid("%s: Field required", join(path, f.name))
		}
	}
	return nil
}

// tagged checks an object whose member "type" says which shape it has.
func (s shaper) tagged(path string, n *node, shapes map[string][]field) *apiError {
	if n.kind != '{' {
		return invalid("%s: Input should be an object", path)
	}
	if t := n.get("type"); t == nil || t.kind != '"' {
		return invalid("%s.type: Field required", path)
	}
	tag := n.str("type")
	shape, ok := shapes[tag]
	if !ok || tag == compactionKind && !s.betas.permit(betaDemand+"|"+betaCompact) {
		return invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags", path, tag)
	}
	return s.object(join(path, tag), n, slices.Concat([]field{{"type", isText, required, ""}}, shape))
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// value checks one value.
func (s shaper) value(path string, n *node, w want) *apiError {
	switch w {
	case isMarker:
		return s.marker(path, n)
	case isSource:
		return s.source(path, n)
	case isResult:
		return s.content(path, n, resultBlocks)
	case isTexts:
		return s.content(path, n, textBlocks)
	}
	return scalar(path, n, w)
}

// mediaTypes are those that a source of each type may have, by what it is a source of.
var mediaTypes = map[string]map[string][]string{
	"image":    {"base64": {"image/jpeg", "image/png", "image/gif", "image/webp"}},
	"document": {"base64": {"application/pdf"}, "text": {"text/plain"}},
}

// source checks what an image or a document is made of.
func (s shaper) source(path string, n *node) *apiError {
	if err := s.tagged(path, n, sourceShapes); err != nil {
		return err
	}
	of := path[:strings.LastIndexByte(path, '.')]
	of = of[strings.LastIndexByte(of, '.')+1:]
	tag := n.str("type")
	if kinds := mediaTypes[of][tag]; kinds != nil && !slices.Contains(kinds, n.str("media_type")) {
		return invalid("%s.%s.media_type: Input should be '%s'", path, tag, strings.Join(kinds, "' or '"))
	}
	if data := n.str("data"); tag == "base64" && (data == "" || !isBase64(data)) {
		return invalid("%s.%s.data: Input should be valid base64", path, tag)
	}
	return nil
}

// isBase64 reports whether a text is base64 of the standard alphabet.
func isBase64(s string) bool {
	if len(s)%4 != 0 {
		return false
	}
	s = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') && r != '+' && r != '/'
	}) < 0
}

// scalar checks a value's kind alone.
func scalar(path string, n *node, w want) *apiError {
	ok, what := true, ""
	switch w {
	case isText:
		ok, what = n.kind == '"', "string"
	case isInt:
		_, ok = n.integer()
		what = "integer"
	case isNumber:
		ok, what = n.kind == '0', "number"
	case isBool:
		ok, what = n.kind == 't' || n.kind == 'f', "boolean"
	case isObject:
		ok, what = n.kind == '{', "object"
	case isList:
		ok, what = n.kind == '[', "list"
	}
	if !ok {
		return invalid("%s: Input should be a valid %s", path, what)
	}
	return nil
}

// marker checks a cache marker (docs/reference/anthropic.md, "The prompt cache").
func (s shaper) marker(path string, n *node) *apiError {
	if err := s.object(path, n, markerShape); err != nil {
		return err
	}
	if n.str("type") != "ephemeral" {
		return invalid("%s.type: Input should be 'ephemeral'", path)
	}
	if ttl := n.str("ttl"); n.get("ttl") != nil && ttl != "5m" && ttl != "1h" {
		return invalid("%s.ttl: Input should be '5m' or '1h'", path)
	}
	return nil
}

// The blocks that may stand in places other than a message.
var (
	textBlocks   = []string{"text"}
	resultBlocks = []string{"text", "image", "document", "search_result", "tool_reference"}
)

// content checks a string or a list of blocks of the given kinds; nil stands for all kinds.
func (s shaper) content(path string, n *node, kinds []string) *apiError {
	if n.kind == '"' {
		return nil
	}
	if n.kind != '[' {
		return invalid("%s: Input should be a valid string or list", path)
	}
	for i, b := range n.items {
		at := index(path, i)
		if err := s.tagged(at, b, blockShapes); err != nil {
			return err
		}
		if tag := b.str("type"); kinds != nil && !slices.Contains(kinds, tag) {
			return invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags: '%s'", at, tag, strings.Join(kinds, "', '"))
		}
	}
	return nil
}
