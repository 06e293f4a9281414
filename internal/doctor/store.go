package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// store finds out whether the database can be read and written.
func (x *examination) store(ctx context.Context) {
	path := x.Database.Path
	if x.Database.Err != nil {
		x.say(broken, "store", "%v", x.Database.Err)
		return
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && !x.Database.Server {
		x.folder(path)
		return
	}
	db, err := x.Database.Open(ctx)
	if err != nil {
		x.say(broken, "store", "%v", err)
		return
	}
	defer db.Close()
	if x.stored, err = storedKeys(ctx, db); err != nil {
		x.say(broken, "keys", "%v", err)
	}
	count, err := x.count(ctx, db)
	if errors.As(err, new(Choice)) {
		x.say(note, "store", "%v", err)
	} else if err != nil {
		x.say(broken, "store", "%v", err)
		return
	}
	// Indexing is a write test that is useful and changes nothing visible.
	if _, err := db.Index(ctx, 1); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		x.say(broken, "store", "%s can be read but not written: %v", path, err)
		return
	}
	x.say(fine, "store", "%s can be read and written%s%s", path, count, encryptedBy(x.Database.Key))
	for _, look := range []func(context.Context, Store) error{x.models, x.unmarked} {
		if err := look(ctx, db); err != nil && !errors.As(err, new(Choice)) {
			x.say(broken, "store", "%v", err)
		}
	}
}

// newest calls look with the newest conversations of the requested tenants.
func (x *examination) newest(ctx context.Context, db Store, look func(*store.Summary) error) error {
	tenants, err := x.Database.Tenants(ctx, db)
	if err != nil {
		return err
	}
	for _, t := range tenants {
		cs, err := db.Conversations(ctx, store.Filter{Tenant: t, Limit: mostLooked})
		if err != nil {
			return err
		}
		for i := range cs {
			if err := look(&cs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// models warns of models of the newest conversations that retire soon, or whose prices are old.
func (x *examination) models(ctx context.Context, db Store) error {
	told := map[string]bool{}
	return x.newest(ctx, db, func(c *store.Summary) error {
		m, _ := x.Catalog.Lookup(c.Model)
		if told[m.ID] {
			return nil
		}
		told[m.ID] = true
		if why := m.Retirement(x.Now()); why != "" {
			x.say(worry, "model", "%s; clients used it lately: choose another, decant models lists them", why)
		}
		if why := m.Outdated(x.Now()); why != "" {
			x.say(worry, "model", "%s: what reports say of money may be wrong; a newer Decant, or --catalog FILE, has newer ones", why)
		}
		return nil
	})
}

// encryptedBy says that a database is encrypted under the key with a name, unless it is empty.
func encryptedBy(key string) string {
	if key != "" {
		return "; encrypted under the key " + key
	}
	return ""
}

// mostCounted is how many conversations of a tenant are counted at most.
const mostCounted = 1000

// count says how many conversations the requested tenants have.
func (x *examination) count(ctx context.Context, db store.Directory) (string, error) {
	tenants, err := x.Database.Tenants(ctx, db)
	if err != nil {
		return "", err
	}
	out := ""
	for _, t := range tenants {
		cs, err := db.Conversations(ctx, store.Filter{Tenant: t, Limit: mostCounted})
		if err != nil {
			return "", err
		}
		out += "; " + report.Count(len(cs), "conversation")
		if len(cs) == mostCounted {
			out += " or more"
		}
		if t != "" || len(tenants) > 1 {
			out += " of " + cmp.Or(t, `""`)
		}
	}
	return out, nil
}

// unmarked says what cache markers would have brought in the newest conversations, where that is worth telling and none are added.
func (x *examination) unmarked(ctx context.Context, db Store) error {
	if x.Config.AddMarkers {
		return nil
	}
	var w report.Unmarked
	err := x.newest(ctx, db, func(c *store.Summary) error {
		rs, err := db.Requests(ctx, c.Key)
		w.Add(rs, func(time.Time) bool { return true }, x.Catalog)
		return err
	})
	if err == nil && w.Worth() {
		x.say(note, "markers", "%s (in the newest %d conversations)", w.String(), mostLooked)
	}
	return err
}

// mostLooked is how many conversations of a tenant are searched for what was sent without markers.
const mostLooked = 50

// folder finds out whether a database could be made.
func (x *examination) folder(path string) {
	dir := filepath.Dir(path)
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".decant-doctor-*")
	if err != nil {
		x.say(broken, "store", "%s does not exist and cannot be made: %v", path, err)
		return
	}
	f.Close()
	os.Remove(f.Name())
	x.say(fine, "store", "%s does not exist yet and can be made", path)
}

// storedKeys returns how many keys in a database are in force.
func storedKeys(ctx context.Context, db store.Keyring) (n int, err error) {
	keys, err := db.TenantKeys(ctx)
	for i := range keys {
		if keys[i].Revoked.IsZero() {
			n++
		}
	}
	return n, err
}
