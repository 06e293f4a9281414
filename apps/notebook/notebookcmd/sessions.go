package notebookcmd

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant/apps/notebook/internal/scan"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/wire"
)

// recordedSession returns the session with a file name, an id or the beginning of one; "last" is the newest.
func recordedSession(s *process.Process, name string) (sessionfile.File, error) {
	if _, err := os.Stat(s.Path(name)); err == nil {
		return sessionfile.File{Path: name}, nil
	}
	homes, err := sessionfile.Homes(s)
	if err != nil {
		return sessionfile.File{}, err
	}
	f, err := sessionfile.Find(s, homes, name, "")
	if err != nil {
		err = exit.Input(err)
	}
	return f, err
}

// recordedSessions returns the files of the sessions that agents recorded in wanted folders and changed since a time.
func recordedSessions(s *process.Process, wanted func(dir string) bool, since time.Time) (out []sessionfile.File, err error) {
	homes, err := sessionfile.Homes(s)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for i := range homes {
		files, err := homes[i].Files()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if f.Changed.Before(since) {
				continue
			}
			dir := f.Directory()
			if _, ok := known[dir]; !ok {
				known[dir] = wanted(dir)
			}
			if known[dir] {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// readSessions reads files, as many at a time as there are processors. It reports files that cannot be read
// and leaves them out.
func readSessions(s *process.Process, files []sessionfile.File) (out []scan.Session) {
	read := make([]*scan.Session, len(files))
	var failed sync.Mutex
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range files {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			one, err := readSession(s, &files[i])
			if err != nil {
				failed.Lock()
				defer failed.Unlock()
				s.Warn(err)
				return
			}
			read[i] = &one
		})
	}
	wg.Wait()
	for _, one := range read {
		if one != nil {
			out = append(out, *one)
		}
	}
	return out
}

// readSession reads one file.
func readSession(s *process.Process, f *sessionfile.File) (scan.Session, error) {
	doc, err := sessionfile.Read(s, f.Path, string(f.Format))
	if err != nil {
		return scan.Session{}, err
	}
	if f.Format == "" && !slices.Contains([]wire.Format{wire.ClaudeCode, wire.Codex, wire.Pi}, doc.Format) {
		return scan.Session{}, exit.Input(fmt.Errorf("%s: want an agent's session file, not a request of the %s format", f.Path, doc.Format))
	}
	one := scan.Read(doc.Conversation)
	one.File, one.Project = f.Path, f.Directory()
	one.ID = cmp.Or(one.ID, f.ID)
	return one, nil
}
