package postgres

import (
	"os"
	"strings"
	"testing"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/storetest"
	"github.com/decantdev/decant/testing/testkit"
)

var server testkit.Postgres

func TestMain(m *testing.M) {
	testkit.Checks(10, 100)
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

func TestStore(t *testing.T) {
	address := anyDatabase(t)
	storetest.Run(t, func(t *testing.T) storetest.Open {
		empty(t, address)
		return func(t *testing.T) store.Core { return openTest(t, address) }
	})
}

// anyDatabase returns the address of a database to test with: a new one, or that of POSTGRES_ADDRESS, whose contents go.
func anyDatabase(t testing.TB) string {
	if address := os.Getenv("POSTGRES_ADDRESS"); address != "" {
		return address
	}
	return server.Database(t)
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

// empty removes everything: to make a database takes longer than most tests.
func empty(t *testing.T, address string) {
	t.Helper()
	db := openTest(t, address)
	defer db.Close()
	var tables []string
	rows, err := db.rows(t.Context(), "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'decant'")
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		tables = append(tables, rows[i].text())
	}
	if _, err := db.rows(t.Context(), "TRUNCATE "+strings.Join(tables, ", ")); err != nil {
		t.Fatal(err)
	}
}
