package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/wire"
)

// A sessionFile is the file of one session.
type sessionFile struct {
	format  wire.Format
	path    string
	id      string // by which the agent resumes the session
	changed time.Time
}

// A sessionHome is where an agent keeps its sessions, and how it names them.
type sessionHome struct {
	format  wire.Format
	dir     string
	id      func(stem string) string // id of the session in a file, "" if it holds none; stem is the file's name without .jsonl
	command string                   // command that resumes a session; the id or file follows it
}

// sessionHomes returns where agents keep the sessions of a user with the given environment and home
// directory.
func sessionHomes(env func(string) string, home string) []sessionHome {
	return []sessionHome{
		{wire.ClaudeCode, filepath.Join(cmp.Or(env("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")), "projects"), claudeID, "claude --resume"},
		{wire.Codex, filepath.Join(cmp.Or(env("CODEX_HOME"), filepath.Join(home, ".codex")), "sessions"), codexID, "codex resume"},
		{wire.Pi, filepath.Join(cmp.Or(env("PI_CODING_AGENT_DIR"), filepath.Join(home, ".pi", "agent")), "sessions"), piID, "pi --session"},
	}
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

// files returns the session files in h, none if the directory does not exist.
func (h *sessionHome) files() (out []sessionFile, err error) {
	err = filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && h.format == wire.ClaudeCode && d.Name() == "subagents":
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".jsonl":
			return nil
		}
		id := h.id(strings.TrimSuffix(d.Name(), ".jsonl"))
		info, err := d.Info()
		if err == nil && id != "" {
			out = append(out, sessionFile{h.format, path, id, info.ModTime()})
		}
		return nil // a file that vanishes meanwhile does not count
	})
	if err != nil {
		return nil, fmt.Errorf("look for sessions: %w", err)
	}
	return out, nil
}

// findSession returns the session with an id or the beginning of one. For "last" it returns the newest
// session of the directory dir or, if there is none, the newest of all. A format limits the search to one
// agent.
func findSession(homes []sessionHome, id string, format wire.Format, dir string) (sessionFile, error) {
	var all []sessionFile
	for i := range homes {
		if format != "" && format != homes[i].format {
			continue
		}
		fs, err := homes[i].files()
		if err != nil {
			return sessionFile{}, err
		}
		all = append(all, fs...)
	}
	slices.SortFunc(all, func(a, b sessionFile) int { return b.changed.Compare(a.changed) })
	if len(all) == 0 {
		return sessionFile{}, errors.New("found no sessions of Claude Code, Codex or pi in their usual places; name a file instead")
	}
	if id == "last" {
		return lastOf(all, dir), nil
	}
	return named(all, id)
}

// lastOf returns the newest session of a directory, else the newest of all. The sessions must be newest
// first.
func lastOf(all []sessionFile, dir string) sessionFile {
	const most = 1000 // to look into; for older sessions the user can give the id
	for i := range all[:min(most, len(all))] {
		if all[i].directory() == dir {
			return all[i]
		}
	}
	return all[0]
}

// named returns the one session whose id is id, or begins with it.
func named(all []sessionFile, id string) (sessionFile, error) {
	var found []sessionFile
	for _, f := range all {
		if f.id == id {
			return f, nil
		}
		if strings.HasPrefix(f.id, id) {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 0:
		return sessionFile{}, fmt.Errorf("no session has the id %q: the newest is %s", id, all[0].id)
	case 1:
		return found[0], nil
	}
	return sessionFile{}, fmt.Errorf("%d sessions have an id that begins with %q: %s and %s are two of them", len(found), id, found[0].id, found[1].id)
}

// directory returns the directory of a session, "" if its first lines do not say.
func (f *sessionFile) directory() string {
	r, err := os.Open(f.path)
	if err != nil {
		return ""
	}
	defer r.Close()
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
