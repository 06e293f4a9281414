package openai

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// Responses is the dialect of the Responses API.
type Responses struct{}

var _ interface {
	dialect.Dialect
	dialect.LateRefuser
} = Responses{}

// aboutResponses is asked for several times by every request.
var aboutResponses = dialect.About{
	Format: wire.OpenAIResponses, Provider: token.OpenAI, Metered: []string{version + "/responses"},
	OrganizationHeader: "Openai-Organization", RequestHeader: "X-Request-Id",
}

// About implements dialect.API.
func (Responses) About() dialect.About { return aboutResponses }

// Door implements dialect.API.
func (Responses) Door(r *http.Request) dialect.Door {
	if api, door := doorOf(r); api == wire.OpenAIResponses {
		return door
	}
	return dialect.Door{}
}

// Refuse implements dialect.API.
func (Responses) Refuse(why dialect.Cause, message string) []byte { return refuse(why, message) }

// Parse implements dialect.Requests.
func (Responses) Parse(body []byte) (*wire.Document, error) {
	doc, err := wire.ParseAs(wire.OpenAIResponses, body)
	if err != nil {
		return nil, err
	}
	return doc, complete(doc)
}

// complete returns an error for a request some of whose conversation only the provider has.
func complete(doc *wire.Document) error {
	for _, name := range []string{"previous_response_id", "conversation", "prompt"} {
		if v := doc.Member(name).Of(doc.Source); len(v) > 0 && string(v) != "null" {
			return fmt.Errorf("%s: %w", name, dialect.ErrElsewhere)
		}
	}
	if !bytes.Contains(doc.Source, []byte(`item_reference`)) {
		return nil
	}
	for _, item := range doc.FixedItems() { // what is of an unknown type counts as fixed
		if refers(item) {
			return errReference
		}
	}
	for i := range doc.Conversation.Messages {
		for k := range doc.Conversation.Messages[i].Blocks {
			b := &doc.Conversation.Messages[i].Blocks[k]
			if b.Kind == decant.KindOpaque && refers(doc.Raw(b.Ref)) {
				return errReference
			}
		}
	}
	return nil
}

var errReference = fmt.Errorf("item_reference: %w", dialect.ErrElsewhere)

// refers reports whether an item stands for another one that only the provider has.
func refers(item []byte) bool {
	return len(item) > 0 && item[0] == '{' && jsonspan.MemberText(item, "type") == "item_reference"
}

// Session implements dialect.Requests. Clients keep the key of the cache for a conversation.
func (Responses) Session(r *wire.Document) string {
	if key := r.Conversation.ID; len(key) <= maxSession {
		return key
	}
	return ""
}

// responsesIdentifier leaves aside what the provider gives an item by itself, and what clients add for themselves.
var responsesIdentifier = dialect.Identifier{
	API: string(wire.OpenAIResponses) + "\n",
	Ignored: map[string]bool{
		"id": true, "status": true, "phase": true, "annotations": true, "logprobs": true, "created_by": true,
		"prompt_cache_breakpoint": true, "internal_chat_message_metadata_passthrough": true,
	},
	Nested: map[string]bool{"content": true, "output": true},
	Types:  map[string]string{"input_text": "text", "output_text": "text"},
}

// Identity implements dialect.Requests. A message of the model with one text is that text.
func (Responses) Identity(raw []byte) decant.Hash {
	if said := onlyPart(raw); said != nil {
		raw = said
	}
	return responsesIdentifier.Identity(raw)
}

// onlyPart returns the only part of a message that is one block, nil for any other block.
func onlyPart(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var role, content jsonspan.Span
	sc := jsonspan.Scan(raw, 0)
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "role":
			role = sc.Skip()
		case "content":
			content = sc.Skip()
		default:
			sc.Skip()
		}
	}
	if role.IsZero() || content.IsZero() {
		return nil
	}
	if raw[content.Start] != '[' {
		return content.Of(raw)
	}
	var only []byte
	sc = jsonspan.Scan(raw, content.Start)
	for sc.Open(); sc.Next(); {
		if only != nil {
			return nil
		}
		only = sc.Skip().Of(raw)
	}
	return only
}

// Edits implements dialect.Requests.
func (Responses) Edits(r *wire.Document) dialect.Edits {
	var truncation string
	if v := r.Member("truncation").Of(r.Source); len(v) > 0 && v[0] == '"' {
		truncation = jsonspan.Unquote(v)
	}
	switch {
	case truncation == "auto":
		return dialect.Clearing
	case bytes.Contains(r.Member("context_management").Of(r.Source), []byte(`compact`)):
		return dialect.Compaction
	}
	return dialect.NoEdits
}

// ReadRefusal implements dialect.Answers.
func (Responses) ReadRefusal(status int, body []byte) dialect.Refusal {
	out := readRefusal(status, body)
	if status == http.StatusBadRequest && out.Topic == "" {
		if _, code := message(body); code == "invalid_encrypted_content" {
			out.Topic = dialect.Thinking
		}
	}
	return out
}

// RefusesLate implements dialect.LateRefuser.
func (Responses) RefusesLate(name, data []byte) (refusal []byte, known bool) {
	switch dialect.KindOfEvent(name, data) {
	case "response.created", "response.in_progress":
		return nil, false
	case "error":
		return bytes.Clone(data), true
	case "response.failed":
		if jsonspan.Validate(data) != nil {
			return nil, true
		}
		if at := jsonspan.Member(data, 0, "response"); !at.IsZero() && data[at.Start] == '{' {
			if e := jsonspan.Member(data, at.Start, "error"); !e.IsZero() {
				return append(append([]byte(`{"error":`), e.Of(data)...), '}'), true
			}
		}
	}
	return nil, true
}
