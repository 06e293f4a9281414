package tools

import (
	"bufio"
	"bytes"
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

	mu      sync.Mutex
	log     *os.File
	entries map[string][]entry // of each file, in order
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

// openKeep opens a folder, which is made if there is none.
func openKeep(dir string) (*keep, error) {
	k := &keep{dir: dir, entries: map[string][]entry{}}
	if err := os.MkdirAll(filepath.Join(dir, "files"), 0o700); err != nil {
		return nil, fmt.Errorf("tools: Options.Keep: %w", err)
	}
	name := filepath.Join(dir, "log.jsonl")
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("tools: Options.Keep: %w", err)
	}
	if err := k.replay(data); err != nil {
		return nil, fmt.Errorf("tools: %s: %w", name, err)
	}
	if k.log, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return nil, fmt.Errorf("tools: Options.Keep: %w", err)
	}
	if len(data) > 0 && data[len(data)-1] != '\n' { // a line that was not written to its end
		_, err = k.log.WriteString("\n")
	}
	return k, err
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

func (k *keep) close() error { return k.log.Close() }

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
	if err != nil {
		return err
	}
	if _, err := k.log.Write(append(b, '\n')); err != nil {
		return err
	}
	k.entries[e.Path] = append(k.entries[e.Path], e)
	return nil
}

// put keeps a content under its hash.
func (k *keep) put(c content) error {
	name := k.blob(hashOf(c))
	if _, err := os.Stat(name); !c.exists || err == nil {
		return nil
	}
	temp := name + "." + rand.Text()
	if err := os.WriteFile(temp, c.data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, name)
}

func (k *keep) blob(hash string) string { return filepath.Join(k.dir, "files", hash) }

// get returns what a file was before an entry.
func (k *keep) get(e entry) (content, error) {
	if e.Before == "" {
		return content{}, nil
	}
	data, err := os.ReadFile(k.blob(e.Before))
	c := content{data: data, mode: e.Mode, exists: true}
	if err == nil && hashOf(c) != e.Before {
		err = fmt.Errorf("%s is not what was kept of %s", k.blob(e.Before), e.Path)
	}
	return c, err
}
