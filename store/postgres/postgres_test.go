package postgres

import (
	"os"
	"testing"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/storetest"
	"github.com/decantdev/decant/testing/testkit"
)

var server testkit.Postgres

func TestMain(m *testing.M) {
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		address := server.Database(t)
		return func(t *testing.T) store.Core { return openTest(t, address) }
	})
}

// openTest opens a database without the parts that it lacks.
func openTest(t testing.TB, address string) *database {
	t.Helper()
	db, err := open(t.Context(), address, Options{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
