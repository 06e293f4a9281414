package chatcmd

import (
	"errors"

	"github.com/decantdev/decant/apps/chat"
	chatserver "github.com/decantdev/decant/apps/chat/internal/server"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/setup"
)

// workspaces returns where the sessions of the service have their files. Commands see neither the database nor what opens it.
func (c *Command) workspaces(s *process.Process, cfg *config.Config, o *chat.Options) (w chatserver.Workspaces, err error) {
	if c.Workspaces == "" {
		if c.WorkspaceShell {
			err = exit.Usage(errors.New("--workspace-shell needs --workspaces DIR"))
		}
		return w, err
	}
	w = chatserver.Workspaces{Dir: s.Path(c.Workspaces), Shell: c.WorkspaceShell}
	w.Hide, err = setup.Private(s, cfg, o.DB)
	return w, err
}
