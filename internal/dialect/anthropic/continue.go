package anthropic

import (
	"errors"
	"fmt"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

var _ dialect.Continuer = Dialect{}

// Continue implements dialect.Continuer. The answer is a JSON list of blocks.
func (Dialect) Continue(body, answer []byte, text string) ([]byte, error) {
	if len(answer) == 0 || string(answer) == "[]" {
		return AppendTurn(body, text)
	}
	answered, err := appendAnswer(body, answer)
	if err != nil {
		return nil, err
	}
	out, err := AppendTurn(answered, text)
	if errors.Is(err, ErrUnanswered) {
		return AppendTurn(body, text)
	}
	return out, err
}

// appendAnswer returns the body of a request with an answer behind its last message.
func appendAnswer(body, answer []byte) ([]byte, error) {
	if err := jsonspan.Validate(answer); err != nil {
		return nil, fmt.Errorf("append an answer to a request: %w", err)
	}
	last, err := lastMessages(body)
	if err != nil {
		return nil, err
	}
	message := append(append([]byte(`,{"role":"assistant","content":`), answer...), '}')
	return spliced(body, jsonspan.Span{Start: last.message.End, End: last.message.End}, message), nil
}
