package main

import (
	"errors"

	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/apps/chat/server"
	"github.com/decantdev/decant/internal/config"
)

// workspaces returns where the sessions of the service have their files. Commands see neither the database nor what opens it.
func (c *chatCmd) workspaces(cfg *config.Config, o *chat.Options) (w chatserver.Workspaces, err error) {
	if c.Workspaces == "" {
		if c.WorkspaceShell {
			err = usageError{errors.New("--workspace-shell needs --workspaces DIR")}
		}
		return w, err
	}
	w = chatserver.Workspaces{Dir: c.Workspaces, Shell: c.WorkspaceShell}
	w.Hide, err = private(cfg, o.DB)
	return w, err
}
