package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decantdev/decant/apps/chat/chatcmd"
	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/triagecmd"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/internal/trust"
)

type trustCmd struct {
	Path string `arg:"" optional:"" default:"." help:"Folder with .decant/triage.yaml, .decant/config.yaml or .mcp.json, or one such file (${default})."`

	Hash string `placeholder:"HEX" help:"Approve only if they have this hash, which a first run prints: for cron, systemd and CI."`
}

// Help says what the flags have no room for.
func (c *trustCmd) Help() string {
	return `.decant/triage.yaml and .mcp.json name programs to run, addresses to contact and files to read, all with your rights.
.decant/config.yaml chooses the model of decant chat, and so what it costs. Whoever wrote the repository may have written
them. So decant triage and decant chat use them only after you approve them. Read them first.

Approvals are stored in $XDG_CONFIG_HOME/decant/trusted (~/.config/decant/trusted). A changed file needs approval again.`
}

// Run says yes to what the files of a folder say.
func (c *trustCmd) Run(s *process.Process) error {
	files, err := trustable(s, c.Path)
	if err != nil {
		return err
	}
	hash, err := trust.Hash(s.Path(c.Path), files...)
	if err != nil {
		return exit.Input(err)
	}
	if c.Hash != "" && !strings.EqualFold(c.Hash, hash) {
		return exit.Input(fmt.Errorf("%s does not match --hash: read it again; its hash is now %s", c.Path, hash))
	}
	yeses, err := trust.Yeses(s)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := yeses.Add(f); err != nil {
			return err
		}
		fmt.Fprintf(s.Out, "trusted as it is now: %s\n", f.Name)
	}
	if c.Hash == "" {
		fmt.Fprintf(s.Out, "The same for this content elsewhere, such as in CI: decant trust --hash %s\n", hash)
	}
	return nil
}

// trustable returns the files that a yes to a folder is for: its settings of triage, the MCP servers of its project
// and of these settings, and the settings of decant chat that cost something.
func trustable(s *process.Process, name string) (out []*trust.File, err error) {
	path := s.Path(name)
	settings, servers := filepath.Join(path, triagecmd.SettingsFile), filepath.Join(cmp.Or(trust.Repository(path), path), chatcmd.MCPFile)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		settings, servers = path, path
	}
	names := []string{settings, servers}
	for i := 0; i < len(names); i++ {
		f, err := trust.Read(names[i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, exit.Input(err)
		case slices.ContainsFunc(out, func(o *trust.File) bool { return o.Name == f.Name }):
			continue
		}
		out = append(out, f)
		if i == 0 && filepath.Ext(f.Name) != ".json" {
			named, err := triage.Servers(names[i], f.Data)
			if err != nil {
				return nil, exit.Input(err)
			}
			if named != "" {
				names = append(names, named)
			}
		}
	}
	if settings != servers {
		keep := func(f *trust.File) error { out = append(out, f); return nil }
		if _, err := project.Load(project.Options{Dir: path, Trusted: keep}); err != nil {
			return nil, exit.Input(err)
		}
	}
	if len(out) == 0 {
		return nil, exit.Input(fmt.Errorf("%s: found nothing to trust: no %s, no %s, and no model or policy in .decant/config.yaml", name, triagecmd.SettingsFile, chatcmd.MCPFile))
	}
	return out, nil
}
