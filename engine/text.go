package engine

import "github.com/decantdev/decant"

// text returns about how many bytes of text the request sends, without images and without thinking,
// of which the provider may count nothing.
func (dr *draft) text() (n int) {
	for i := range dr.q.refs.Conv.Fixed.System {
		n += textSize(&dr.q.refs.Conv.Fixed.System[i])
	}
	for i := range dr.q.refs.Conv.Fixed.Tools {
		if s := dr.q.refs.Conv.Fixed.Tools[i].Schema; s != nil {
			n += s.Size()
		}
	}
	for i := range dr.view.Messages {
		for k := range dr.view.Messages[i].Blocks {
			n += textSize(&dr.view.Messages[i].Blocks[k])
		}
	}
	return n
}

func textSize(b *decant.Block) int {
	if b.Content == nil || b.Media.Count > 0 || b.Kind == decant.KindThinking || b.Kind == decant.KindOpaque {
		return 0
	}
	return b.Content.Size()
}
