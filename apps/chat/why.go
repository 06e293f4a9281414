package chat

import (
	"context"
	"errors"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat/internal/receipt"
)

// errSilent means that there is nothing to ask about.
var errSilent = errors.New("nothing was answered yet")

// Why returns what the last answer that says something rests on in what its model was sent.
func (c *Chat) Why(ctx context.Context) (*receipt.Receipt, error) {
	s, err := c.Session(), errSilent
	answers := s.Answers()
	for i := len(answers) - 1; i >= 0; i-- {
		var m *agent.Moment
		if m, err = s.Moment(ctx, c.db.Store(), answers[i]); err == nil && m.Text == "" {
			err = errSilent // it asks for calls alone
			continue
		}
		if err != nil {
			return nil, err
		}
		return receipt.Of(m), nil
	}
	return nil, err
}
