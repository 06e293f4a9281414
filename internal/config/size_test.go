package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/config"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]config.Size{
		"512MB": 512 << 20, "1GB": 1 << 30, "64 kb": 64 << 10, "1000": 1000,
		"": 0, "0": 0, "-1MB": 0, "1.5GB": 0, "MB": 0, "1TB": 0, "99999999999GB": 0,
	} {
		var s config.Size
		if err := s.UnmarshalText([]byte(text)); s != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v; want %d", text, s, err, want)
		}
	}
}

func TestSizesAreSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("body_limit: 16MB\nbody_memory: 2GB\nhosts: [decant.local]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Sources{File: file, Environ: []string{"DECANT_BODY_MEMORY=512MB"}})
	if err != nil || c.BodyLimit != 16<<20 || c.Bodies != 512<<20 || len(c.Hosts) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := config.Load(config.Sources{Environ: []string{"DECANT_BODY_LIMIT=much"}}); err == nil || !strings.Contains(err.Error(), "DECANT_BODY_LIMIT") {
		t.Errorf("a size that is none: %v", err)
	}
}
