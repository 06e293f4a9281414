package sqlite

import (
	"os"
	"path/filepath"

	"github.com/decantdev/decant/internal/userdir"
)

// DefaultPath returns where the user's own database lives: decant/decant.db in the folder for user
// data of the system, which is $XDG_DATA_HOME or ~/.local/share, on macOS
// ~/Library/Application Support, on Windows %LocalAppData%. $XDG_DATA_HOME counts everywhere.
func DefaultPath() (string, error) {
	dir, err := userdir.Data(os.Getenv)
	return filepath.Join(dir, "decant.db"), err
}
