package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/decantdev/decant/agent/mcp"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/trust"
)

// MCPFile is the name of the file of a project that names its MCP servers.
const MCPFile = ".mcp.json"

// giveServers gives a chat the tools of the MCP servers of its project, where they are trusted, or shall be. warn is told what is not there and why. The
// function that it returns ends the servers.
func giveServers(ctx context.Context, s *process.Process, o *chat.Options, trusted bool, warn func(error)) (func() error, error) {
	name := filepath.Join(o.Project.Root, MCPFile)
	file, err := trust.Read(name)
	if errors.Is(err, fs.ErrNotExist) && !trusted {
		return nil, nil
	}
	yeses, fault := trust.Yeses(s)
	switch {
	case fault != nil:
		return nil, fault
	case !trusted && (err != nil || !yeses.Has(file)): // whatever is in it
		warn(fmt.Errorf("%s names MCP servers, which are programs: look at it, and say --mcp once to start them here from now on", name))
		return nil, nil
	case err != nil:
		return nil, exit.Input(err)
	}
	servers, err := mcp.Read(name, file.Data, s.LookupEnv)
	if err != nil {
		return nil, exit.Input(err)
	}
	if trusted {
		if err := yeses.Add(file); err != nil {
			return nil, err
		}
	}
	set := mcp.Open(ctx, servers, mcp.Options{})
	if err := set.Err(); err != nil {
		warn(err)
	}
	tools, err := set.Tools(ctx)
	o.Tools = append(o.Tools, tools...)
	return set.Close, err
}
