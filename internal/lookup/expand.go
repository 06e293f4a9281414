package lookup

import (
	"context"
	"errors"
	"io"

	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/wire"
)

// Expand writes an original: of a block exactly its text, of a checkpoint the messages that it covers.
func Expand(ctx context.Context, w io.Writer, s archive.Source, o *store.Original) error {
	if o.Decision.Checkpoint != nil {
		return expandCovered(ctx, w, s, o)
	}
	for i := range o.Entries {
		text, err := s.Blobs(ctx, o.Tenant, o.Entries[i].Text)
		if err != nil {
			return err
		}
		if _, err := w.Write(text[0]); err != nil {
			return err
		}
	}
	return nil
}

// expandCovered writes the messages that a checkpoint covers.
func expandCovered(ctx context.Context, w io.Writer, s archive.Source, o *store.Original) error {
	if len(o.Entries) == 0 {
		return errors.New("the checkpoint covers no messages")
	}
	t, err := archive.ReadEntries(ctx, s, o.Key, o.Entries)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, wire.Text(t.Conversation))
	return err
}
