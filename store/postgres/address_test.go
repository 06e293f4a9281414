package postgres

import (
	"errors"
	"net"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/store"
)

// Beyond this machine a connection is encrypted and the server verified, whatever an address leaves out; no error quotes it.
func TestAddressesAreSafe(t *testing.T) {
	for _, tt := range []struct{ address, want string }{
		{"postgres://u:hunter2@localhost/db", ""},
		{"postgres://u:hunter2@127.0.0.1:5433/db?sslmode=disable", ""},
		{"postgres://u:hunter2@[::1]/db", ""},
		{"postgres:///db?host=/var/run/postgresql", ""},
		{"postgresql://u:hunter2@db.example/db", ""},
		{"postgres://u:hunter2@db.example/db?sslmode=verify-full", ""},
		{"postgres://u:hunter2@db.example/db?sslmode=prefer", "verify-full"},
		{"postgres://u:hunter2@db.example/db?sslmode=require", "verify-full"},
		{"postgres://u:hunter2@db.example/db?sslmode=disable", "verify-full"},
		{"postgres://u:hunter2@localhost,db.example/db?sslmode=disable", "verify-full"},
		{"postgres://u:hunter2@db.example:port/db", "no valid"},
		{"postgres://u:hunter2@localhost/db?sslmode=hunter2", "no valid"},
		{"postgres://u:hunter2@localhost/db?pool_max_conns=none", "pool_max_conns"},
		{"host=localhost password=hunter2", "has to be a URL"},
	} {
		cfg, _, err := parse(tt.address)
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want an error with %q", tt.address, err, tt.want)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the error quotes it: %v", tt.address, err)
		case err == nil && !safe(cfg):
			t.Errorf("%s: the connection is not safe", tt.address)
		}
	}
}

// A server is unreachable where none listens, and where one does not answer within the time that the address gives it.
func TestNoServerIsUnreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, at := range []string{"127.0.0.1:1/db", silent.Addr().String() + "/db?connect_timeout=1"} {
		_, err := Open(t.Context(), "postgres://u:hunter2@"+at, Options{})
		if !errors.Is(err, store.ErrUnreachable) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want ErrUnreachable without the password", at, err)
		}
	}
}

// What clients call things need not be text as PostgreSQL has it.
func TestEveryTextComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.SampledFrom([]byte("a\x00\x01\x80\xff\xc3\xa9"))).Draw(t, "text"))
		if stored := legible(s); illegible(stored) != s || strings.Contains(stored, "\x00") || strings.ToValidUTF8(stored, "") != stored {
			t.Errorf("%q is stored as %q and comes back as %q", s, stored, illegible(stored))
		}
	})
}

func TestTextsThatAreNoTextAreKept(t *testing.T) {
	db := openTest(t, anyDatabase(t))
	f := store.Finding{Upstream: "a\x00b", Topic: "\xff", Value: "\x01 \u2028 'quoted'"}
	if err := db.Find(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	got, err := db.Findings(t.Context(), f.Upstream, "")
	if err != nil || len(got) != 1 || got[0] != f {
		t.Errorf("got %+v, %v; want %+v", got, err, f)
	}
}
