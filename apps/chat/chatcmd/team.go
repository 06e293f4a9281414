package chatcmd

import (
	"fmt"
	"os"

	"github.com/decantdev/decant/agent/team"
)

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
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return team.Parse(path, src)
	}
	root, err := os.OpenRoot(path) // the folder may be a project's: no link leads out of it
	if err != nil {
		return nil, err
	}
	defer root.Close()
	members, err := team.ReadDir(root.FS(), ".")
	if err == nil && len(members) == 0 {
		err = fmt.Errorf("%s: no file there ends with .md", path)
	}
	return &team.File{Members: members}, err
}
