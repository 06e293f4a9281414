package wire

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/request"
	"github.com/decantdev/decant/wire/internal/source"
)

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
		return request.EncodeAnthropic(view), nil
	case OpenAIChat:
		return request.EncodeChat(view, false), nil
	case OpenAIResponses:
		return request.EncodeResponses(view), nil
	}
	return nil, fmt.Errorf("write %s: a conversation can be written from scratch as %s, %s or %s only",
		f, Anthropic, OpenAIChat, OpenAIResponses)
}

// EncodeShown writes a request of the Messages API as one of Chat Completions, as Encode does, with its images: those of messages where they
// stand, those of results behind them as the user's, since a result there is a text. Documents but plain texts are named and not shown.
func EncodeShown(d *Document) ([]byte, error) {
	if d.Format != Anthropic {
		return nil, fmt.Errorf("write %s with images: it must be a request of the Messages API", d.Format)
	}
	var body struct {
		Messages []struct {
			Content jsontext.Value `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(d.Source, &body, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("write it with images: %w", err)
	}
	view := *d.Conversation
	view.Messages = slices.Clone(view.Messages)
	for i := range view.Messages {
		if n := view.Messages[i].Number; n > 0 && n <= len(body.Messages) {
			view.Messages[i] = source.Shown(view.Messages[i], body.Messages[n-1].Content)
		}
	}
	return request.EncodeChat(&view, true), nil
}
