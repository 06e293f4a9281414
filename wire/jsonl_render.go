package wire

import "github.com/decantdev/decant"

type client interface{}
type (
	claudeCode struct{}
	codex      struct{}
	pi         struct{}
)

func (s *session) render(d *Document, view *decant.Conversation) ([]byte, error) {
	return d.Source, nil
}
