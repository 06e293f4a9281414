package wire

import (
	"fmt"

	"github.com/decantdev/decant/wire/internal/request"
)

// ParseTwice reads a request of the Messages API as ParseAs does when the text is checked as a whole
// before it is read: in two passes.
func ParseTwice(src []byte) (*Document, error) {
	d, err := request.ParseAnthropicTwice(src)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", Anthropic, err)
	}
	return newDocument(Anthropic, d), nil
}

// Detect tells the format of src, as Parse does before it reads it.
var Detect = detect
