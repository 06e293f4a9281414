package storetest

import (
	"crypto/sha256"
	"errors"
	"time"

	"github.com/decantdev/decant/store"
)

// keyOf returns a key of a tenant, as it is stored.
func keyOf(id, tenant string) store.TenantKey {
	return store.TenantKey{
		ID: id, Tenant: tenant, Hash: sha256.Sum256([]byte("decant_" + id)), Note: "for " + tenant, Created: epoch,
		Limits: store.Limits{Requests: 60, Tokens: 100_000, Budgets: []store.Allowance{{Per: "day", Tokens: 5, USD: 0.25}}},
	}
}

var keyTests = []test{
	{"AreInForceUntilRevoked", func(b *bench) {
		first, second := keyOf("b", "alice"), keyOf("a", "bob")
		second.Limits = store.Limits{}
		b.addKey(first)
		b.addKey(second)
		b.reopen()
		b.equal("keys", b.tenantKeys(), []store.TenantKey{first, second})
		b.revokeKey("b", epoch.Add(time.Hour))
		first.Revoked = epoch.Add(time.Hour)
		b.equal("after one was revoked", b.tenantKeys(), []store.TenantKey{first, second})
		b.revokeKey("b", epoch.Add(2*time.Hour))
		b.equal("after it was revoked again", b.tenantKeys(), []store.TenantKey{first, second})
	}},
	{"UnknownOnesCannotBeRevoked", func(b *bench) {
		if err := b.RevokeKey(b.ctx, "x", store.Act{Time: epoch}); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("revoke: %v, want ErrNotFound", err)
		}
		b.equal("records", b.acts(store.ActQuery{}), []store.Act(nil))
	}},
	{"AnIDIsUsedOnce", func(b *bench) {
		b.addKey(keyOf("a", "alice"))
		b.revokeKey("a", epoch)
		if err := b.AddKey(b.ctx, keyOf("a", "bob"), store.Act{Time: epoch}); !errors.Is(err, store.ErrConflict) {
			b.Errorf("add: %v, want ErrConflict", err)
		}
		b.equal("keys", len(b.tenantKeys()), 1)
		b.equal("records", len(b.acts(store.ActQuery{})), 2)
	}},
}

func (b *bench) addKey(k store.TenantKey) {
	b.Helper()
	if err := b.AddKey(b.ctx, k, store.Act{Time: k.Created, Actor: "root", Action: "key add"}); err != nil {
		b.Fatalf("add key: %v", err)
	}
}

func (b *bench) revokeKey(id string, at time.Time) {
	b.Helper()
	if err := b.RevokeKey(b.ctx, id, store.Act{Time: at, Actor: "root", Action: "key revoke"}); err != nil {
		b.Fatalf("revoke key: %v", err)
	}
}

func (b *bench) tenantKeys() []store.TenantKey {
	b.Helper()
	ks, err := b.TenantKeys(b.ctx)
	if err != nil {
		b.Fatalf("read keys: %v", err)
	}
	return ks
}

var auditTests = []test{
	{"RecordsStayInOrder", func(b *bench) {
		one := store.Act{Time: epoch, Actor: "root", Action: "undo", Tenant: "alice", Target: "c1", Detail: "version 7"}
		two := store.Act{Time: epoch.Add(-time.Hour), Actor: "root", Action: "gc", Detail: "3 conversations"} // a clock was set back
		b.audit(one)
		b.audit(two)
		b.addKey(keyOf("a", "bob"))
		key := store.Act{Time: epoch, Actor: "root", Action: "key add", Tenant: "bob", Target: "a"}
		one.Number, two.Number, key.Number = 1, 2, 3
		b.reopen()
		b.equal("all", b.acts(store.ActQuery{}), []store.Act{one, two, key})
		b.equal("of a tenant", b.acts(store.ActQuery{Tenant: &one.Tenant}), []store.Act{one})
		b.equal("of everybody", b.acts(store.ActQuery{Tenant: new(string)}), []store.Act{two})
		b.equal("since", b.acts(store.ActQuery{Since: epoch}), []store.Act{one, key})
		b.equal("the newest two", b.acts(store.ActQuery{Limit: 2}), []store.Act{two, key})
	}},
	{"OutlivesWhatItIsAbout", func(b *bench) {
		need[store.Collector](b)
		b.audit(store.Act{Time: epoch, Actor: "root", Action: "undo", Target: "c1"})
		if _, err := b.GC(b.ctx, store.Policy{Now: epoch.AddDate(9, 0, 0), MaxAge: 1, AllTenants: true}); err != nil {
			b.Fatal(err)
		}
		b.equal("records", len(b.acts(store.ActQuery{})), 1)
	}},
}

func (b *bench) audit(a store.Act) {
	b.Helper()
	if err := b.Audit(b.ctx, a); err != nil {
		b.Fatalf("audit: %v", err)
	}
}

func (b *bench) acts(q store.ActQuery) []store.Act {
	b.Helper()
	as, err := b.Acts(b.ctx, q)
	if err != nil {
		b.Fatalf("read audit log: %v", err)
	}
	return as
}
