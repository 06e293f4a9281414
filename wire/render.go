package wire

import "github.com/decantdev/decant"

func (b *body) render(d *Document, view *decant.Conversation) ([]byte, error) { return d.Source, nil }
