package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/decantdev/decant/internal/jsonspan"
)

// Parse reads src in the format that its content tells. Errors wrap ErrFormat when src is in none of
// the formats, and name the offset and the field, or the line, where it departs from the format.
//
// src must not change afterwards: the document refers to it. A byte order mark before a JSON value is no
// part of it.
func Parse(src []byte) (*Document, error) {
	f, err := Detect(src)
	if err != nil {
		return nil, err
	}
	return ParseAs(f, src)
}

// ParseAs reads src as a document of format f. See [Parse].
func ParseAs(f Format, src []byte) (*Document, error) {
	d, err := parse(f, src)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f, err)
	}
	return d, nil
}

func parse(f Format, src []byte) (*Document, error) {
	switch f {
	case Anthropic:
		if d := (earlier{}).parse(src); d != nil {
			return d, nil
		}
		return parseBody(src, parseAnthropic)
	case OpenAIChat:
		return parseBody(src, parseChat)
	case OpenAIResponses:
		return parseBody(src, parseResponses)
	case ClaudeCode:
		return parseClaudeCode(src)
	case Codex:
		return parseCodex(src)
	case Pi:
		return parsePi(src)
	case Messages:
		return parseMessages(src)
	case Copilot:
		return parseCopilot(src)
	case Gemini:
		return parseGemini(src)
	case Opencode:
		return parseOpencode(src)
	case SWEAgent:
		return parseSWEAgent(src)
	case TauBench:
		return parseTauBench(src)
	case OpenHands:
		return parseOpenHands(src)
	}
	return nil, fmt.Errorf("format %q is not known; known are %q", f, Formats())
}

// parseBody checks that src is one JSON object before it is taken apart.
func parseBody(src []byte, parser func([]byte) (*Document, error)) (*Document, error) {
	src = bytes.TrimPrefix(src, byteOrderMark)
	if err := jsonspan.Validate(src); err != nil {
		return nil, invalid(src, err)
	}
	sc := jsonspan.Scan(src, 0)
	if sc.Kind() != '{' {
		return nil, fieldError(sc.Pos(), "body", "want a JSON object")
	}
	return parser(src)
}

// invalid says why src is not one JSON value.
func invalid(src []byte, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("offset %d: the input is cut off after %d bytes: %w", len(src), len(src), ErrFormat)
	}
	return fmt.Errorf("%w: %w", err, ErrFormat)
}
