package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/config"
)

// directives returns what a unit says, by section and name. A name may have several values.
func directives(t *testing.T, unit string) map[string][]string {
	t.Helper()
	out, section := map[string][]string{}, ""
	for line := range strings.Lines(unit) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = line
		case !ok:
			t.Errorf("%q is no directive", line)
		default:
			out[section+name] = append(out[section+name], value)
		}
	}
	return out
}

func TestUnit(t *testing.T) {
	d := directives(t, read(t, "decant.service"))
	for name, want := range map[string]string{
		"[Service]ExecStart": "/usr/local/bin/decant serve --config /etc/decant/decant.yaml", "[Service]ExecReload": "/bin/kill -HUP $MAINPID",
		"[Service]User": "decant", "[Service]NoNewPrivileges": "yes", "[Service]ProtectSystem": "strict", "[Service]ProtectHome": "yes",
		"[Service]CapabilityBoundingSet": "", "[Service]UMask": "0077", "[Service]StateDirectory": "decant", "[Service]StateDirectoryMode": "0700",
		"[Service]Environment": "DECANT_DB=/var/lib/decant/decant.db", "[Install]WantedBy": "multi-user.target",
	} {
		if !slices.Contains(d[name], want) {
			t.Errorf("%s is %q, want %q", name, d[name], want)
		}
	}
	patience, err := time.ParseDuration(d["[Service]TimeoutStopSec"][0] + "s")
	if err != nil || patience < atMost(t) {
		t.Errorf("it is killed after %s, and may take %s to end: %v", patience, atMost(t), err)
	}
}

// The chat's unit is the gateway's but for what it runs and where.
func TestChatUnit(t *testing.T) {
	gateway, chat := directives(t, read(t, "decant.service")), directives(t, read(t, "decant-chat.service"))
	for name, values := range gateway {
		switch name {
		case "[Unit]Description", "[Service]ExecStart", "[Service]Environment", "[Service]StateDirectory":
			continue
		}
		if !slices.Equal(chat[name], values) {
			t.Errorf("%s is %q, and the gateway's %q", name, chat[name], values)
		}
	}
	if !slices.Contains(chat["[Service]ExecStart"], "/usr/local/bin/decant chat --serve") || !slices.Contains(chat["[Service]WorkingDirectory"], "/var/lib/decant-chat") {
		t.Errorf("%v", chat)
	}
}

// atMost returns how long a gateway takes to end, as it is set up without settings.
func atMost(t *testing.T) time.Duration {
	t.Helper()
	c, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(c.Drain) + 5*time.Second
}

// What systemd itself thinks of the unit.
func TestUnitIsTight(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("NOT TESTED: there is no systemd-analyze here")
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unit := strings.ReplaceAll(read(t, "decant.service"), "/usr/local/bin/decant", binary) // one that is there
	name := filepath.Join(t.TempDir(), "decant.service")
	if err := os.WriteFile(name, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", name).CombinedOutput(); err != nil || strings.Contains(string(out), "decant.service") {
		t.Errorf("verify: %v\n%s", err, out)
	}
	const most = "20" // tenths: 10 is what nothing but the network leaves
	if out, err := exec.Command(analyze, "security", "--offline=yes", "--threshold="+most, name).CombinedOutput(); err != nil {
		t.Errorf("security: %v\n%s", err, out)
	}
}
