package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/store"
)

// keptSuffix is what follows the name of a database in the name of the folder where the chats of that database keep what files were.
const keptSuffix = "-files"

// mostKept is how many bytes are kept of all sessions together. Those that were used longest ago go first.
const mostKept = 1 << 30

// A kept is what the files of a project were before calls changed them, beside the database, a folder for each session.
type kept struct {
	set  *tools.Set
	chat *chat.Options // its database is not known yet when the tools are made
}

var _ chat.Kept = (*kept)(nil)

// dir returns the folder of all sessions; empty: nothing is kept beside the database. Of one that is encrypted, or on a server, nothing is, since what is kept of
// files is not.
func (k *kept) dir() string {
	if k.chat.DB == "" || k.chat.Encrypted || config.IsServer(k.chat.DB) {
		return ""
	}
	return k.chat.DB + keptSuffix
}

// Use implements chat.Kept.
func (k *kept) Use(session string) error {
	if k.dir() == "" {
		return nil
	}
	return k.set.KeepIn(filepath.Join(k.dir(), session))
}

// Copy implements chat.Kept.
func (k *kept) Copy(from, to string) error {
	if k.dir() == "" {
		return nil
	}
	return tools.CopyKept(filepath.Join(k.dir(), from), filepath.Join(k.dir(), to))
}

// Collect implements chat.Kept.
func (k *kept) Collect(known func(string) (bool, error)) error {
	if k.dir() == "" {
		return nil
	}
	return collectKept(k.dir(), known)
}

// A keptSession is what is kept of a session.
type keptSession struct {
	path  string
	used  time.Time
	bytes int64
}

// collectKept removes what is kept of sessions that are not known, and of the others what was used longest ago, where there is too much.
func collectKept(dir string, known func(string) (bool, error)) (err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []keptSession
	for i := 0; i < len(entries) && err == nil; i++ {
		name := entries[i].Name()
		is, fault := known(name)
		switch {
		case fault != nil:
			err = fault
		case !is:
			err = os.RemoveAll(filepath.Join(dir, name))
		default:
			all = append(all, measureKept(filepath.Join(dir, name)))
		}
	}
	slices.SortFunc(all, func(a, b keptSession) int { return b.used.Compare(a.used) })
	sum := int64(0)
	for i := range all {
		if sum += all[i].bytes; sum > mostKept && i > 0 {
			err = errors.Join(err, os.RemoveAll(all[i].path))
		}
	}
	if err != nil {
		return fmt.Errorf("remove what is kept of files: %w", err)
	}
	return nil
}

// measureKept returns what is kept of a session. What cannot be read counts as nothing.
func measureKept(path string) keptSession {
	k := keptSession{path: path}
	filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			k.bytes += info.Size()
			if info.ModTime().After(k.used) {
				k.used = info.ModTime()
			}
		}
		return nil
	})
	return k
}

// DropKept removes what is kept beside a database of sessions that are no longer in it.
func DropKept(ctx context.Context, db string, js store.Journals) error {
	if config.IsServer(db) {
		return nil
	}
	return collectKept(db+keptSuffix, func(id string) (bool, error) {
		_, err := js.Journal(ctx, store.Key{ID: id})
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return true, err
	})
}
