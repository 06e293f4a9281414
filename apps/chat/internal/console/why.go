package console

import (
	"context"
	"strconv"
)

// why shows what the last answer rests on, or one of its sentences with its sources in full.
func (t *talk) why(ctx context.Context, number string) {
	r, err := t.chat.Why(ctx)
	switch n, bad := strconv.Atoi(number); {
	case err != nil:
	case number == "":
		err = r.WriteText(t.screen)
		t.screen.line("/why N shows what sentence N rests on, in full.")
	case bad != nil || n < 1 || n > len(r.Sentences):
		t.screen.line("want the number of a sentence, from 1 to %d: /why lists them", len(r.Sentences))
	default:
		err = r.Sentences[n-1].WriteQuotes(t.screen)
	}
	t.failed(err)
}
