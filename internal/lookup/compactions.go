package lookup

import (
	"context"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/recall"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/token"
)

// compacted is how the handle of a summary begins that is none of Decant's: the number of its message follows.
const compacted = "c:m"

// Compactions returns the summaries in a conversation that the client or, for it, the provider has put in the place of
// everything before them, as checkpoints. What each of them lacks is found out from the messages before it, which are
// all still here. Their handles name the message that holds them, such as c:m21.
func Compactions(ctx context.Context, c *decant.Conversation, size *token.Estimator) (rows []report.CheckpointRow) {
	for i := range c.Messages {
		m := &c.Messages[i]
		if !m.Compaction {
			continue
		}
		if n := len(rows); n > 0 {
			rows[n-1].State = report.Replaced
		}
		rows = append(rows, report.CheckpointRow{
			Checkpoint: compaction(ctx, c.Messages[:i], m, size), Created: m.Time, State: report.InView,
			Handle: decant.Handle(compacted + strconv.Itoa(m.Number)),
		})
		prove(ctx, &rows[len(rows)-1], c.Messages[:i])
	}
	return rows
}

// prove finds out which facts of messages a summary keeps and lacks that Decant has not written.
func prove(ctx context.Context, r *report.CheckpointRow, ms []decant.Message) {
	if r.Summary != "" {
		checked := fact.Check(ctx, fact.Extract(ctx, ms), r.Summary)
		r.Facts, r.Missing = checked.Kept, checked.Missing
	}
}

// compaction returns the summary in m of the messages before it.
func compaction(ctx context.Context, before []decant.Message, m *decant.Message, size *token.Estimator) decant.Checkpoint {
	cp := decant.Checkpoint{Messages: len(before), Rung: decant.RungClient, Original: size.Messages(before), Compressed: size.Block(&m.Blocks[0])}
	if m.Blocks[0].Kind == decant.KindOpaque {
		cp.Rung = decant.RungNative
	}
	if b := m.Summary(); b != nil {
		cp.Summary = b.Text()
	}
	if len(before) > 0 {
		cp.From, cp.To = before[0].Number, before[len(before)-1].Number
	}
	if cp.Summary != "" && len(before) > 0 {
		cp.Score = recall.Of(ctx, before, cp.Summary).Score
	}
	return cp
}

// compactionOf returns the number of the message that a handle of [Compactions] names.
func compactionOf(h decant.Handle) (message int, ok bool) {
	digits, ok := strings.CutPrefix(string(h), compacted)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}
