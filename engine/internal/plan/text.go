package plan

import "github.com/decantdev/decant"

// Text returns about how many bytes of text the request sends, without images and without thinking,
// of which the provider may count nothing.
func (dr *Draft) Text() (n int) {
	in := dr.Input
	for i := range in.Conv.Fixed.System {
		n += textSize(&in.Conv.Fixed.System[i])
	}
	for i := range in.Conv.Fixed.Tools {
		if s := in.Conv.Fixed.Tools[i].Schema; s != nil {
			n += s.Size()
		}
	}
	live := dr.View.Live()
	for i := range live {
		for k := range live[i].Blocks {
			n += textSize(&live[i].Blocks[k])
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
