package main

import (
	"fmt"
	"os"

	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/internal/plainfile"
)

// mostTeam is how many bytes a file of a team may have.
const mostTeam = 1 << 20

// teamOf reads a team from a YAML file, or from a folder of Markdown files; nil where none is named.
func teamOf(path string) (*team.File, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		src, err := plainfile.Read(path, mostTeam)
		if err != nil {
			return nil, err
		}
		return team.Parse(path, src)
	}
	members, err := team.ReadDir(os.DirFS(path), ".")
	if err == nil && len(members) == 0 {
		err = fmt.Errorf("%s: no file there ends with .md", path)
	}
	return &team.File{Members: members}, err
}
