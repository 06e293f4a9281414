package sqlite_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/testkit"
)

// convertAgainAndAgain is what a child does that converts: it encrypts a database and decrypts it, until it is killed.
func convertAgainAndAgain(path string) error {
	k, err := seal.ParseKey(strings.Repeat("01", seal.KeySize))
	if err != nil {
		return err
	}
	from, to := (*seal.Key)(nil), k
	if _, err := open1(path, k); err == nil {
		from, to = to, from
	}
	for {
		if err := sqlite.Convert(context.Background(), path, secret(from), secret(to)); err != nil {
			return err
		}
		from, to = to, from
	}
}

// open1 opens and closes a database and returns the key that it was opened with.
func open1(path string, k *seal.Key) (*seal.Key, error) {
	db, err := sqlite.OpenDatabase(context.Background(), path, sqlite.Options{Key: secret(k)})
	if err != nil {
		return nil, err
	}
	return k, db.Close()
}

// TestKillConvert kills a process that converts a database, at different points of its work. What is left is the whole
// database, encrypted or not.
func TestKillConvert(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	_, err := tell(t.Context(), db, "one")
	must(t, err)
	l := &line{Key: store.Key{ID: "conv"}, size: 20_000}
	for range 10 {
		must(t, l.commit(t.Context(), db))
	}
	must(t, db.Close())
	info, err := os.Stat(path)
	must(t, err)
	want := picture(t, path, nil)
	for range testkit.Depth(2, 10) {
		c, _ := start(t, path, converter, 0)
		size := rand.Int64N(info.Size())
		testkit.Eventually(t, "it has written so much of the new database", func() bool {
			at, err := os.Stat(path + ".converting")
			return err == nil && at.Size() >= size
		})
		must(t, c.Process.Kill())
		_ = c.Wait() // it was killed
		k, err := open1(path, nil)
		if errors.Is(err, store.ErrSealed) {
			k, err = open1(path, key(t, "01"))
		}
		must(t, err)
		unchanged(t, want, picture(t, path, k))
	}
}
