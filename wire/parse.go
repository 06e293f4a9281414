package wire

import (
	"fmt"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/request"
	"github.com/decantdev/decant/wire/internal/session"
	"github.com/decantdev/decant/wire/internal/source"
)

// Parse reads src in the format that its content tells. Errors wrap ErrFormat when src is in none of
// the formats, and name the offset and the field, or the line, where it departs from the format.
//
// src must not change afterwards: the document refers to it. A byte order mark before a JSON value is no
// part of it.
func Parse(src []byte) (*Document, error) {
	f, err := detect(src)
	if err != nil {
		return nil, err
	}
	return ParseAs(f, src)
}

// ParseAs reads src as a document of format f. See [Parse].
func ParseAs(f Format, src []byte) (*Document, error) {
	parse := parsers[f]
	if parse == nil {
		return nil, fmt.Errorf("read %s: format %q is not known; known are %q", f, f, Formats())
	}
	p, err := parse(src)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f, err)
	}
	return newDocument(f, p), nil
}

// parsers says who reads which format.
var parsers = map[Format]func(src []byte) (*source.Document, error){
	Anthropic:       request.ParseAnthropic,
	OpenAIChat:      request.ParseChat,
	OpenAIResponses: request.ParseResponses,
	Messages:        parseMessages,

	ClaudeCode: session.ParseClaudeCode,
	Codex:      session.ParseCodex,
	Pi:         session.ParsePi,

	Copilot:  session.ParseCopilot,
	Gemini:   session.ParseGemini,
	Opencode: session.ParseOpencode,
}

// parseMessages reads a bare list of messages, of the Messages API or of Chat Completions: what only one
// of them has decides, and where nothing does, both mean the same.
func parseMessages(src []byte) (*source.Document, error) {
	src, err := source.Valid(src)
	if err != nil {
		return nil, err
	}
	sc := jsonspan.Scan(src, 0)
	if sc.Kind() != '[' {
		return nil, source.FieldError(sc.Pos(), "body", "want a list of messages")
	}
	if messagesAPI(src, sc.Pos()) == Anthropic {
		return request.ParseAnthropicList(src)
	}
	return request.ParseChatList(src)
}
