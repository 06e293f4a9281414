// Package sessionfile finds, reads and rewrites the files in which agents keep their sessions, and other files with a conversation.
package sessionfile

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/userdir"
	"github.com/decantdev/decant/wire"
)

// A File is the file of one session.
type File struct {
	Format  wire.Format
	Path    string
	ID      string // by which the agent resumes the session
	Changed time.Time
}

// A Home is where an agent keeps its sessions, and how it names them.
type Home struct {
	Format  wire.Format
	dir     string
	id      func(stem string) string // id of the session in a file, "" if it holds none; stem is the file's name without .jsonl
	command string                   // command that resumes a session; the id or file follows it
}

// Homes returns where agents keep the sessions of a user.
func Homes(s *process.Process) ([]Home, error) {
	home, err := userdir.Home(s.Getenv)
	if err != nil {
		return nil, err
	}
	env := s.Getenv
	return []Home{
		{wire.ClaudeCode, filepath.Join(cmp.Or(env("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")), "projects"), claudeID, "claude --resume"},
		{wire.Codex, filepath.Join(cmp.Or(env("CODEX_HOME"), filepath.Join(home, ".codex")), "sessions"), codexID, "codex resume"},
		{wire.Pi, filepath.Join(cmp.Or(env("PI_CODING_AGENT_DIR"), filepath.Join(home, ".pi", "agent")), "sessions"), piID, "pi --session"},
	}, nil
}

// claudeID returns the id of a session of Claude Code, which is the file's name. Files of sub-agents have
// other names.
func claudeID(stem string) string {
	if strings.HasPrefix(stem, "agent-") {
		return ""
	}
	return stem
}

// codexID returns the UUID at the end of rollout-TIME-UUID.
func codexID(stem string) string {
	const uuid = 36
	if !strings.HasPrefix(stem, "rollout-") || len(stem) <= uuid {
		return ""
	}
	return stem[len(stem)-uuid:]
}

// piID returns the id at the end of TIME_ID.
func piID(stem string) string { return stem[strings.LastIndexByte(stem, '_')+1:] }

// Files returns the session files in h, none if the directory does not exist.
func (h *Home) Files() (out []File, err error) {
	err = filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && h.Format == wire.ClaudeCode && d.Name() == "subagents":
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".jsonl":
			return nil
		}
		id := h.id(strings.TrimSuffix(d.Name(), ".jsonl"))
		info, err := d.Info()
		if err == nil && id != "" {
			out = append(out, File{h.Format, path, id, info.ModTime()})
		}
		return nil // a file that vanishes meanwhile does not count
	})
	if err != nil {
		return nil, fmt.Errorf("look for sessions: %w", err)
	}
	return out, nil
}

// Find returns the session with an id or the beginning of one. For "last" it returns the newest
// session of the working directory or, if there is none, the newest of all. A format limits the search to one
// agent.
func Find(s *process.Process, homes []Home, id string, format wire.Format) (File, error) {
	var all []File
	for i := range homes {
		if format != "" && format != homes[i].Format {
			continue
		}
		fs, err := homes[i].Files()
		if err != nil {
			return File{}, err
		}
		all = append(all, fs...)
	}
	slices.SortFunc(all, func(a, b File) int { return b.Changed.Compare(a.Changed) })
	if len(all) == 0 {
		return File{}, errors.New("found no sessions of Claude Code, Codex or pi in their usual places; name a file instead")
	}
	if id == "last" {
		dir, err := s.Abs(".")
		return lastOf(all, dir), err
	}
	return named(all, id)
}

// lastOf returns the newest session of a directory, else the newest of all. The sessions must be newest
// first.
func lastOf(all []File, dir string) File {
	const most = 1000 // to look into; for older sessions the user can give the id
	for i := range all[:min(most, len(all))] {
		if all[i].Directory() == dir {
			return all[i]
		}
	}
	return all[0]
}

// named returns the one session whose id is id, or begins with it.
func named(all []File, id string) (File, error) {
	var found []File
	for _, f := range all {
		if f.ID == id {
			return f, nil
		}
		if strings.HasPrefix(f.ID, id) {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 0:
		return File{}, fmt.Errorf("no session has the id %q: the newest is %s", id, all[0].ID)
	case 1:
		return found[0], nil
	}
	return File{}, fmt.Errorf("%d sessions have an id that begins with %q: %s and %s are two of them", len(found), id, found[0].ID, found[1].ID)
}

// Directory returns the directory of a session, "" if its first lines do not say.
func (f *File) Directory() string {
	r, err := os.Open(f.Path)
	if err != nil {
		return ""
	}
	defer r.Close()
	return directoryIn(r)
}

// Directory returns the directory of the session in a document, "" if it does not say.
func Directory(doc *wire.Document) string {
	if doc.Format != wire.Opencode {
		return directoryIn(bytes.NewReader(doc.Source))
	}
	var export struct {
		Info struct {
			Directory string `json:"directory"`
		} `json:"info"`
	}
	_ = json.Unmarshal(doc.Source, &export, jsontext.AllowInvalidUTF8(true)) // then it does not say
	return export.Info.Directory
}

// directoryIn returns the directory that one of the first lines of a session says, "" if none does.
func directoryIn(r io.Reader) string {
	const lines = 50
	in := bufio.NewReaderSize(r, 1<<20)
	for range lines {
		line, err := in.ReadSlice('\n')
		var l struct {
			CWD     string `json:"cwd"`
			Payload struct {
				CWD string `json:"cwd"`
			} `json:"payload"`
		}
		if json.Unmarshal(line, &l) == nil && l.CWD+l.Payload.CWD != "" { // other lines do not tell the directory
			return cmp.Or(l.CWD, l.Payload.CWD)
		}
		if err != nil {
			return ""
		}
	}
	return ""
}

// Resuming returns the command that resumes a session.
func (h *Home) Resuming(f *File) string {
	what := f.ID
	if h.Format == wire.Pi {
		what = f.Path
	}
	if dir := f.Directory(); dir != "" && h.Format == wire.ClaudeCode { // Claude Code looks in the directory in which it is started
		return fmt.Sprintf("cd %s && %s %s", process.ShellWord(dir), h.command, process.ShellWord(what))
	}
	return h.command + " " + process.ShellWord(what)
}
