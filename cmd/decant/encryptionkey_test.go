package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/store/sqlite"
)

// A database that is not encrypted and takes the place of one that is, while a gateway with a key uses it, is not taken
// up: nothing is kept in clear.
func TestAClearDatabaseIsNotTakenUpWithAKey(t *testing.T) {
	dir := t.TempDir()
	path, clear, key := filepath.Join(dir, "decant.db"), filepath.Join(dir, "clear.db"), filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("a7", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	x := newStoodWith(t, path, map[string]string{"encryption_key_file": key})
	if _, fault := x.say("s"); fault != "" || x.ready() != http.StatusOK {
		t.Fatalf("on an encrypted database: fault %q, ready %d", fault, x.ready())
	}
	db, err := sqlite.Open(t.Context(), clear, sqlite.Options{})
	if err := errors.Join(err, db.Close(), os.Rename(clear, path)); err != nil {
		t.Fatal(err)
	}
	x.say("since")
	x.look()
	if _, fault := x.say("t"); !strings.Contains(fault, "not encrypted") || x.ready() == http.StatusOK || x.log.count("is used again") > 0 {
		t.Errorf("on one that is not: fault %q, ready %d; the log says %s", fault, x.ready(), &x.log.buf)
	}
	if n := x.sound(); n != 0 {
		t.Errorf("%d conversations are kept in clear", n)
	}
}

// What opens the service is private, wherever it is: the settings, each file that they name, and the database.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	text := "tls: {cert: c.pem, key: k.pem}\nencryption: {key_file: e.key}\ntracing: {endpoint: 'http://127.0.0.1:4318', headers_file: h.txt}\n" +
		"summary: {key_file: s.key}\nca: [a.pem]\n"
	for name, text := range map[string]string{"decant.yaml": text, "c.pem": "", "k.pem": "", "e.key": "", "h.txt": "a: b", "s.key": "key", "a.pem": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(config.Sources{Dir: dir, Environ: []string{"DECANT_CONFIG=decant.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	names, err := setup.Private(&process.Process{Dir: dir}, cfg, filepath.Join(dir, "chat.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"decant.yaml", "c.pem", "k.pem", "e.key", "h.txt", "s.key", "a.pem", "chat.db", "chat.db-wal", "chat.db-shm", "chat.db-files"} {
		if !slices.Contains(names, filepath.Join(dir, want)) {
			t.Errorf("%s is not private: %q", want, names)
		}
	}
}
