package testkit

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A Postgres is a PostgreSQL server of the tests of one package, which begins when the first one needs it. The zero value is
// ready to use. TestMain has to stop it.
type Postgres struct {
	Settings []string // as name=value, in place of those that are quick and lose data when the machine dies

	once   sync.Once
	folder string // with its data and its socket
	server *exec.Cmd
	err    error

	mu        sync.Mutex
	databases int
}

// Database returns the address of a new, empty database. Where PostgreSQL is not installed, it skips the test.
func (p *Postgres) Database(t testing.TB) string {
	t.Helper()
	bin, err := postgresPrograms()
	if err != nil {
		t.Skip(err)
	}
	p.once.Do(func() { p.err = p.start(bin) })
	if p.err != nil {
		t.Fatalf("start PostgreSQL: %v", p.err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.databases++
	name := fmt.Sprint("test", p.databases)
	if err := p.exec("postgres", "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return p.address(name)
}

// Folder returns where the server keeps its data, "" before it has begun.
func (p *Postgres) Folder() string { return p.folder }

func (p *Postgres) address(database string) string {
	return "postgres://decant@/" + database + "?host=" + url.QueryEscape(p.folder)
}

func (p *Postgres) exec(database, sql string) error {
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, p.address(database))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, sql).ReadAll()
	return err
}

// postgresPrograms returns the folder with the programs of PostgreSQL, the newest where there are several.
func postgresPrograms() (string, error) {
	if name, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(name), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", fmt.Errorf("PostgreSQL is not installed: no initdb in PATH or /usr/lib/postgresql (Debian: apt-get install postgresql)")
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return release(a) - release(b) })), nil
}

// release returns the number in /usr/lib/postgresql/15/bin/initdb.
func release(name string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(name))))
	return n
}

// start makes a server that listens on a socket in its folder only.
func (p *Postgres) start(bin string) (err error) {
	if p.folder, err = os.MkdirTemp("", "postgres"); err != nil {
		return err
	}
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = p.folder
		return cmd
	}
	data := filepath.Join(p.folder, "data")
	initdb := run("initdb", "-D", data, "-U", "decant", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	settings := p.Settings
	if settings == nil {
		settings = []string{"fsync=off", "synchronous_commit=off", "full_page_writes=off"}
	}
	args := []string{"-D", data, "-k", p.folder, "-c", "listen_addresses=", "-c", "max_connections=200", "-c", "autovacuum=off"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	p.server = run("postgres", args...)
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		if err := demote(p.folder, initdb, p.server); err != nil {
			return err
		}
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(p.folder, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	p.server.Stdout, p.server.Stderr = log, log
	if err := p.server.Start(); err != nil {
		return err
	}
	return p.wait()
}

// wait waits until the server lets somebody in: it says so in its log, which nobody can wait for.
func (p *Postgres) wait() (err error) {
	for range 600 {
		if err = p.exec("postgres", ""); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// Stop ends the server and removes its data.
func (p *Postgres) Stop() {
	if p.server != nil && p.server.Process != nil {
		p.server.Process.Signal(os.Interrupt) // a fast shutdown
		p.server.Wait()
	}
	if p.folder != "" {
		os.RemoveAll(p.folder)
	}
}
