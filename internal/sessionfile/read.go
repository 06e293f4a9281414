package sessionfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/wire"
)

// Read reads and parses the file of the given name, or standard input for "-". The format is
// found in the content unless one is given.
func Read(s *process.Process, name, format string) (*wire.Document, error) {
	src, err := ReadBytes(s, name)
	if err != nil {
		return nil, exit.Input(err)
	}
	doc, err := parse(src, format)
	if err != nil {
		return nil, exit.Input(fmt.Errorf("%s: %w", name, err))
	}
	return doc, nil
}

// IsFile reports whether a name, which may be a file's or a conversation's, is a file's: the file exists, or
// the name looks like one.
func IsFile(s *process.Process, name string) bool {
	if info, err := os.Stat(s.Path(name)); err == nil {
		return !info.IsDir()
	}
	switch filepath.Ext(name) {
	case ".json", ".jsonl", ".gz":
		return true
	}
	return name == "-" || strings.ContainsAny(name, `/\`)
}

// ReadBytes returns what a file or standard input has, unpacked.
func ReadBytes(s *process.Process, name string) ([]byte, error) {
	r := s.In
	if name != "-" {
		f, err := os.Open(s.Path(name))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a directory: name the files in it, or use decant replay, which looks for sessions", name)
		}
		r = f
	}
	src, err := wire.Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return src, nil
}

func parse(src []byte, format string) (*wire.Document, error) {
	if format == "" {
		return wire.Parse(src)
	}
	return wire.ParseAs(wire.Format(format), src)
}
