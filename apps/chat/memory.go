package chat

import (
	"context"
	"io"
	"time"

	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// mostMemories is how many memories are listed.
const mostMemories = 50

// Remembered lists what is remembered beyond conversations; with words, what fits them best.
func (c *Chat) Remembered(ctx context.Context, w io.Writer, words string) error {
	found, err := lookup.Memories(ctx, c.db.Store(), []string{""}, store.MemoryQuery{}, words)
	if err != nil {
		return err
	}
	var rows []report.Memory
	for i := range found[:min(len(found), mostMemories)] {
		rows = append(rows, lookup.MemoryRow(&found[i]))
	}
	if len(rows) == 0 {
		_, err := io.WriteString(w, "nothing is remembered\n")
		return err
	}
	return report.WriteMemories(w, rows, time.Local)
}
