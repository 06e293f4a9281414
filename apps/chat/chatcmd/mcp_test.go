package chatcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/project"
)

// A file of servers that nobody trusts does not keep a chat from beginning, whatever is in it. With --mcp it is an error.
func TestServersThatNobodyTrusts(t *testing.T) {
	s := &process.Process{Environ: []string{"XDG_CONFIG_HOME=" + t.TempDir()}}
	for name, put := range map[string]func(file string) error{
		"a variable that is not set": func(file string) error {
			return os.WriteFile(file, []byte(`{"mcpServers": {"db": {"command": "x", "env": {"KEY": "${DECANT_TEST_UNSET}"}}}}`), 0o600)
		},
		"no JSON":            func(file string) error { return os.WriteFile(file, []byte("{"), 0o600) },
		"a folder":           func(file string) error { return os.Mkdir(file, 0o700) },
		"a file without end": func(file string) error { return os.Symlink("/dev/zero", file) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := put(filepath.Join(dir, MCPFile)); err != nil {
				t.Skip(err)
			}
			o := &chat.Options{Project: &project.Project{Root: dir}}
			var warned []string
			warn := func(err error) { warned = append(warned, err.Error()) }
			done, err := giveServers(t.Context(), s, o, false, warn)
			if err != nil || done != nil || len(o.Tools) > 0 || len(warned) != 1 || !strings.Contains(warned[0], MCPFile) {
				t.Errorf("%v, warned of %q", err, warned)
			}
			if _, err := giveServers(t.Context(), s, o, true, warn); err == nil || !strings.Contains(err.Error(), MCPFile) {
				t.Errorf("with --mcp: %v", err)
			}
			if _, err := giveServers(t.Context(), s, o, false, warn); err != nil {
				t.Errorf("it is trusted now: %v", err)
			}
		})
	}
}
