package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/seal"
	"github.com/decantdev/decant/store/sqlite"
)

// TestNamesPours opens databases from before decisions named their pour, one of them encrypted: the ids of their
// decisions said it, and nobody has to read them so any more.
func TestNamesPours(t *testing.T) {
	for name, k := range map[string]*seal.Key{"InClear": nil, "Encrypted": key(t, "01")} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "decant.db")
			db, l := openAs(t, path, sqlite.Options{Key: k}), &line{Key: store.Key{ID: "conv"}}
			must(t, l.commit(t.Context(), db))
			made := func(id, pour string, n int) decant.Decision {
				return decant.Decision{
					ID: id, Pour: pour, Kind: decant.Cover, Created: time.Unix(1_800_000_000, 0).UTC(),
					Checkpoint: &decant.Checkpoint{Number: n, From: 1, To: 1, Summary: "what happened", Facts: []decant.Fact{}},
				}
			}
			want := []decant.Decision{
				made("0190-7000.1", "", 1), made("pour-0190-7001.1", "pour-0190-7001", 2), made("pour-0190-7001.12", "pour-0190-7001", 3),
				made("pour-0190-7002.1 again", "pour-0190-7002", 4), made("pouring-0190.1", "", 5),
			}
			before, err := db.Load(t.Context(), l.Key, store.Newest)
			must(t, err)
			_, err = db.Commit(t.Context(), &store.Batch{Key: l.Key, Version: l.version, Decisions: want})
			must(t, err)
			must(t, db.Close())
			must(t, sqlite.Downgrade(t.Context(), path, 21))
			db = openAs(t, path, sqlite.Options{Key: k})
			s, err := db.Load(t.Context(), l.Key, store.Newest)
			must(t, err)
			if diff := cmp.Diff(want, s.Decisions[len(before.Decisions):]); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
		})
	}
}
