package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/store"
)

// What a gateway relies on holds also against statements that are not Decant's.
func TestKeysAndAuditLogCannotBeRewritten(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "d.db"))
	k := store.TenantKey{ID: "k1", Tenant: "alice", Created: time.Unix(1, 0)}
	if err := db.AddKey(t.Context(), k, store.Act{Time: time.Unix(1, 0), Action: "key add"}); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"UPDATE acts SET actor = 'nobody'", "DELETE FROM acts",
		"UPDATE tenant_keys SET tenant = 'bob'", "UPDATE tenant_keys SET hash = zeroblob(32), limits = ''", `UPDATE tenant_keys SET limits = '{"x":1}'`,
	} {
		if err := db.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "append-only") && !strings.Contains(err.Error(), "never changed") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if err := db.RevokeKey(t.Context(), "k1", store.Act{Time: time.Unix(2, 0), Action: "key revoke"}); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), "UPDATE tenant_keys SET revoked = 0"); err == nil {
		t.Error("a revoked key came back")
	}
}

// A program of an earlier version must not pass over a limit that it does not know.
func TestLimitsThatAreNotKnownAreAnError(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "d.db"))
	err := db.Exec(t.Context(), `INSERT INTO tenant_keys (id, tenant, hash, note, created, limits) VALUES ('k1', 'a', zeroblob(32), '', 1, '{"images_per_year":1}')`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.TenantKeys(t.Context()); err == nil || !strings.Contains(err.Error(), "limits of key k1") {
		t.Errorf("%v", err)
	}
}
