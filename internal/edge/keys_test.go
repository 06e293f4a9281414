package edge

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/store"
)

// unreadable stands for a store whose keys cannot be read.
func unreadable(context.Context) ([]store.TenantKey, error) {
	return nil, errors.New("disk on fire")
}

// A database that cannot be read stops no agent of this machine, and opens no door to others.
func TestKeysThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		name, listen, keys string
		starts             bool
		anybody            error
	}{
		{"Loopback", "127.0.0.1:1", "", true, nil},
		{"LoopbackWithKeys", "127.0.0.1:1", "alice:k", true, keyring.ErrKey},
		{"PublicWithKeys", "0.0.0.0:1", "alice:k", true, keyring.ErrKey},
		{"Public", "0.0.0.0:1", "", false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := config.Load(config.Sources{Environ: []string{"DECANT_KEYS=" + c.keys}, Flags: map[string]string{"listen": c.listen}})
			if err != nil {
				t.Fatal(err)
			}
			var log strings.Builder
			ring, err := StoredKeys(t.Context(), cfg, unreadable, slog.New(slog.NewTextHandler(&log, nil)))
			if (err == nil) != c.starts || !strings.Contains(log.String(), "disk on fire") {
				t.Fatalf("starts: %v; the log says %q", err, &log)
			}
			if !c.starts {
				return
			}
			if _, err := ring.Admit(""); !errors.Is(err, c.anybody) {
				t.Errorf("without a key: %v, want %v", err, c.anybody)
			}
		})
	}
}
