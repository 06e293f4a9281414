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

	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/trust"
	"github.com/decantdev/decant/internal/userdir"
)

type trustCmd struct {
	Path string `arg:"" optional:"" default:"." help:"Folder with .decant/triage.yaml or .mcp.json, or one such file (${default})."`

	Hash string `placeholder:"HEX" help:"Approve only if they have this hash, which a first run prints: for cron, systemd and CI."`
}

// Help says what the flags have no room for.
func (c *trustCmd) Help() string {
	return `.decant/triage.yaml and .mcp.json name programs to run, addresses to contact and files to read, all with your rights.
Whoever wrote the repository may have written them. So decant triage and decant chat use them only after you approve
them. Read them first.

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
	yeses, err := yeses(s)
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

// trustable returns the files that a yes to a folder is for: its settings of triage, and the MCP servers of its project
// and of these settings.
func trustable(s *process.Process, name string) (out []*trust.File, err error) {
	path := s.Path(name)
	settings, servers := filepath.Join(path, triageSettings), filepath.Join(cmp.Or(trust.Repository(path), path), mcpFile)
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
	if len(out) == 0 {
		return nil, exit.Input(fmt.Errorf("%s: found neither %s nor %s", name, triageSettings, mcpFile))
	}
	return out, nil
}

// yeses returns where each yes of the user is kept.
func yeses(s *process.Process) (trust.Book, error) {
	home, err := userdir.Config(s.Getenv)
	return trust.Book{Dir: filepath.Join(home, "trusted")}, err
}

// own reports whether a file that the user names is the user's own: one of the user's settings, or one that lies in no
// repository. What lies in one is the repository's, whoever names it.
func own(s *process.Process, name string) bool {
	if trust.Repository(name) == "" {
		return true
	}
	home, err := userdir.Config(s.Getenv)
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(home, real)
	return err == nil && filepath.IsLocal(rel)
}

// trustWritten keeps a yes to a file that the user has just had written.
func trustWritten(s *process.Process, name string) error {
	f, err := trust.Read(name)
	if err != nil {
		return err
	}
	yeses, err := yeses(s)
	if err != nil {
		return err
	}
	return yeses.Add(f)
}

// vouched returns an error unless a file is the user's own, or the user has said yes to what it says, or does so now at
// the terminal. path is what decant trust takes for it.
func vouched(s *process.Process, f *trust.File, own bool, path string) error {
	if own {
		return nil
	}
	yeses, err := yeses(s)
	if err != nil || yeses.Has(f) {
		return err
	}
	if all, err := s.Abs(path); err == nil { // it is read in a message of cron, too
		path = all
	}
	const what = "%s names programs, addresses or files to use with your rights"
	if s.Asks() && s.Confirm(fmt.Sprintf(what+". Have you looked at it, and do you trust it as it is now?", f.Name)) {
		return yeses.Add(f)
	}
	return exit.Input(fmt.Errorf(what+", and you have not said yes to what it says now: look at it, then say: decant trust %s", f.Name, shellWord(path)))
}
