package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/decantdev/decant/agent/mcp"
	"github.com/decantdev/decant/internal/chat"
)

// mcpFile is the name of the file of a project that names its MCP servers.
const mcpFile = ".mcp.json"

// A trust says whether the servers of a project may be started: they are programs that the project names, with the rights of its user.
type trust struct {
	file string // of the servers
	mark string // a file that is there where they are trusted as they are; they are not when they change
}

// trustOf returns the trust in the servers of a project, which are those of the source.
func trustOf(file string, src []byte) (*trust, error) {
	home, err := settingsHome()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append([]byte(file+"\x00"), src...))
	return &trust{file: file, mark: filepath.Join(home, "trusted", fmt.Sprintf("%x", sum[:16]))}, nil
}

// given reports whether the servers are trusted.
func (t *trust) given() bool {
	_, err := os.Stat(t.mark)
	return err == nil
}

// give trusts them from now on.
func (t *trust) give() error {
	if err := os.MkdirAll(filepath.Dir(t.mark), 0o700); err != nil {
		return err
	}
	return os.WriteFile(t.mark, []byte(t.file+"\n"), 0o600)
}

// giveServers gives a chat the tools of the MCP servers of its project, where they are trusted, or shall be. warn is told what is not there and why. The
// function that it returns ends the servers.
func giveServers(ctx context.Context, o *chat.Options, trusted bool, warn func(error)) (func() error, error) {
	file := filepath.Join(o.Project.Root, mcpFile)
	servers, t, err := serversOf(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !trusted:
		return nil, nil
	case !trusted && (t == nil || !t.given()): // whatever is in it
		warn(fmt.Errorf("%s names MCP servers, which are programs: look at it, and say --mcp once to start them here from now on", file))
		return nil, nil
	case err != nil:
		return nil, err
	case trusted:
		if err := t.give(); err != nil {
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

// mostServers is how many bytes a file of servers may have.
const mostServers = 1 << 20

// serversOf reads a file of servers, and returns the trust in them, also beside an error; nil: the file cannot be read.
func serversOf(file string) ([]mcp.Server, *trust, error) {
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > mostServers) { // a link may lead to a device
		err = fmt.Errorf("%s: it is not a file, or larger than %d MB", file, mostServers>>20)
	}
	if err != nil {
		return nil, nil, inputError{err}
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, inputError{err}
	}
	t, err := trustOf(file, src)
	if err != nil {
		return nil, nil, err
	}
	servers, err := mcp.Read(file, src, nil)
	if err != nil {
		return nil, t, inputError{err}
	}
	return servers, t, nil
}
