package tools

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-json-experiment/json"
)

// A keep holds what files were when they were read and before they were changed, in a folder that survives the process.
type keep struct {
	dir string

	most int64 // bytes

	mu      sync.Mutex
	log     *os.File           // nil: nothing was kept yet
	entries map[string][]entry // of each file, in order
	held    int64              // bytes; less than zero: not counted yet
	broken  error              // why nothing can be kept
}

// An entry is a line of the log: a file was read, or changed.
type entry struct {
	Path   string      `json:"path"`
	Call   string      `json:"call,omitzero"`   // that changed it; empty: it was read
	Before string      `json:"before,omitzero"` // hash of what it was; empty: there was none
	After  string      `json:"after,omitzero"`  // hash of what it is from then on; empty: there is none
	Mode   fs.FileMode `json:"mode,omitzero"`   // before
	Undoes []string    `json:"undoes,omitzero"` // calls whose changes were taken back
}

// What is in the folder of a keep.
const (
	logName   = "log.jsonl"
	blobsName = "files"
)

// defaultKept is how many bytes of what files were are kept.
const defaultKept = 256 << 20

// openKeep opens a folder, which is made when there is something to keep.
func openKeep(dir string, most int64) (*keep, error) {
	k := &keep{most: cmp.Or(most, defaultKept)}
	return k, k.use(dir)
}

// use goes on with another folder. Where that fails, nothing is kept, and so nothing can be changed.
func (k *keep) use(dir string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.log != nil {
		k.log.Close() // each line of it was written when it came
	}
	k.dir, k.log, k.entries, k.held = dir, nil, map[string][]entry{}, -1
	data, err := os.ReadFile(filepath.Join(dir, logName))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = k.replay(data)
	}
	if k.broken = err; err != nil {
		k.broken = fmt.Errorf("what files were is not kept in %s: %w", dir, err)
	}
	return k.broken
}

// open opens the log to be written to. The keep is locked.
func (k *keep) open() (err error) {
	if k.broken != nil || k.log != nil {
		return k.broken
	}
	if err := os.MkdirAll(filepath.Join(k.dir, blobsName), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(k.dir, logName), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := ended(f); err != nil {
		return errors.Join(err, f.Close())
	}
	k.log = f
	return nil
}

// replay reads a log. A line that was not written to its end is of a change that was not made.
func (k *keep) replay(data []byte) error {
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var e entry
		if json.Unmarshal(s.Bytes(), &e) == nil && e.Path != "" {
			k.entries[e.Path] = append(k.entries[e.Path], e)
		}
	}
	return s.Err()
}

// ended ends the last line of a log, which may not have been written to its end.
func ended(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	end := []byte{0}
	if _, err := f.ReadAt(end, info.Size()-1); err != nil || end[0] == '\n' {
		return err
	}
	_, err = f.WriteString("\n")
	return err
}

func (k *keep) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.log == nil {
		return nil
	}
	return k.log.Close()
}

// hashOf returns the hash of what a file holds.
func hashOf(c content) string {
	if !c.exists {
		return ""
	}
	sum := sha256.Sum256(c.data)
	return hex.EncodeToString(sum[:])
}

// known returns the hash of what the model knows a file to hold; false: it does not know the file.
func (k *keep) known(name string) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.entries[name]
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1].After, true
}

// read notes that the model has read a file.
func (k *keep) read(name string, c content) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := entry{Path: name, After: hashOf(c)}
	if all := k.entries[name]; len(all) > 0 && all[len(all)-1].After == e.After {
		return nil
	}
	return k.add(e)
}

// change notes what a call makes of a file, before it does.
func (k *keep) change(call, name string, before, after content, undoes []string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.put(before); err != nil {
		return fmt.Errorf("what %s was could not be kept, so it was not changed: %w", name, err)
	}
	return k.add(entry{Path: name, Call: call, Before: hashOf(before), After: hashOf(after), Mode: before.mode, Undoes: undoes})
}

// add writes an entry.
func (k *keep) add(e entry) error {
	b, err := json.Marshal(e)
	if err == nil {
		err = k.open()
	}
	if err != nil {
		return err
	}
	if _, err := k.log.Write(append(b, '\n')); err != nil {
		return err
	}
	k.entries[e.Path] = append(k.entries[e.Path], e)
	return nil
}

// put keeps a content under its hash. The keep is locked.
func (k *keep) put(c content) error {
	if err := k.open(); err != nil {
		return err
	}
	name := k.blob(hashOf(c))
	if _, err := os.Stat(name); !c.exists || err == nil {
		return nil
	}
	if err := k.room(int64(len(c.data))); err != nil {
		return err
	}
	temp := name + "." + rand.Text()
	if err := os.WriteFile(temp, c.data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, name)
}

func (k *keep) blob(hash string) string { return filepath.Join(k.dir, blobsName, hash) }

// get returns what a file was before an entry.
func (k *keep) get(e entry) (content, error) {
	if e.Before == "" {
		return content{}, nil
	}
	data, err := os.ReadFile(k.blob(e.Before))
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, fmt.Errorf("what %s was is no longer kept: there was too much of it", e.Path)
	}
	c := content{data: data, mode: e.Mode, exists: true}
	if err == nil && hashOf(c) != e.Before {
		err = fmt.Errorf("%s is not what was kept of %s", k.blob(e.Before), e.Path)
	}
	return c, err
}
