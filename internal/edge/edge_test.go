package edge

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/front"
)

// An operator is told of what leaves the machine in clear, and of nothing else.
func TestWarnsOfWhatOthersCanReach(t *testing.T) {
	for _, c := range []struct {
		name    string
		cfg     config.Config
		tls     bool
		warning string
	}{
		{"Loopback", config.Config{Listen: "127.0.0.1:4141", Metrics: "[::1]:9141"}, false, ""},
		{"Public", config.Config{Listen: "0.0.0.0:4141", Plain: true}, false, "serves without TLS"},
		{"PublicWithTLS", config.Config{Listen: ":4141"}, true, ""},
		{"Metrics", config.Config{Listen: "127.0.0.1:4141", Metrics: "0.0.0.0:9141"}, false, "read the metrics"},
		{"MetricsWithToken", config.Config{Listen: "127.0.0.1:4141", Metrics: "0.0.0.0:9141", Token: "t"}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log strings.Builder
			e := &Edge{cfg: &c.cfg, log: slog.New(slog.NewTextHandler(&log, nil))}
			if c.tls {
				e.pair = &front.Certificate{}
			}
			e.warn()
			if got := log.String(); !strings.Contains(got, c.warning) || (got == "") != (c.warning == "") {
				t.Errorf("said %q, want %q", got, c.warning)
			}
		})
	}
}
