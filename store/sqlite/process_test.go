package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/testkit"
)

// The test binary starts itself as a child process that writes; these say what the child does.
const (
	childPath = "DECANT_TEST_CHILD_DB"   // the database
	childName = "DECANT_TEST_CHILD_NAME" // prefix of its conversations
	childMax  = "DECANT_TEST_CHILD_MAX"  // commits of each writer, 0: until killed
	converter = "converter"              // name of a child that converts the database instead
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testkit.Checks(6, 100)
	goleak.VerifyTestMain(m)
}

// writers is how many conversations a child writes at once.
const writers = 4

// child writes to the database and says which commits were acknowledged: "conversation version".
func child(path string) error {
	if os.Getenv(childName) == converter {
		return convertAgainAndAgain(path)
	}
	db, err := sqlite.OpenDatabase(context.Background(), path, sqlite.Options{})
	if err != nil {
		return err
	}
	limit, _ := strconv.Atoi(os.Getenv(childMax))
	if name := os.Getenv(childName); strings.HasPrefix(name, rival) {
		return errors.Join(compete(db, name, limit), db.Close())
	}
	errs := make(chan error, writers+1)
	for i := range writers {
		go func() { errs <- write(db, childLine(os.Getenv(childName), i), limit) }()
	}
	go func() { errs <- index(db, limit) }()
	for range writers + 1 {
		err = errors.Join(err, <-errs)
	}
	return errors.Join(err, db.Close())
}

func childLine(name string, i int) *line {
	return &line{Key: store.Key{Tenant: "t", ID: fmt.Sprintf("%s-%d", name, i)}, size: 50 << (3 * i)}
}

func write(db *sqlite.Database, l *line, limit int) error {
	for n := 0; limit == 0 || n < limit; n++ {
		if err := l.commit(context.Background(), db); err != nil {
			return err
		}
		fmt.Printf("%s %d\n", l.ID, l.version) // one write: a line is printed whole or not at all
	}
	return nil
}

// index has the index written while others commit.
func index(db *sqlite.Database, limit int) error {
	for n := 0; limit == 0 || n < limit; n++ {
		if _, err := db.Index(context.Background(), 10); err != nil {
			return err
		}
	}
	return nil
}

// start starts a child and returns it with the acknowledgements that it prints.
func start(t *testing.T, path, name string, limit int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childPath+"="+path, childName+"="+name, childMax+"="+strconv.Itoa(limit))
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatalf("start child: %v", err)
	}
	t.Cleanup(func() {
		if s := stderr.String(); s != "" {
			t.Errorf("child %s: %s", name, s)
		}
	})
	return c, bufio.NewScanner(out)
}

// acknowledged reads up to n acknowledgements, all when n is negative, into acks.
func acknowledged(t *testing.T, s *bufio.Scanner, n int, acks map[string]int64) {
	t.Helper()
	for ; n != 0 && s.Scan(); n-- {
		id, version, _ := strings.Cut(s.Text(), " ")
		v, err := strconv.ParseInt(version, 10, 64)
		if err != nil {
			t.Fatalf("child said %q", s.Text())
		}
		acks[id] = v
	}
}

// TestKill kills a process that writes, again and again at another moment. Whatever was
// acknowledged must be in the store, whole, and nothing may dangle.
func TestKill(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	path := ""
	for i := range testkit.Depth(3, 60) {
		if i%5 == 0 { // a database that has survived much, but not so large that checking it takes long
			path = filepath.Join(t.TempDir(), "decant.db")
		}
		name := fmt.Sprint("run", i)
		c, out := start(t, path, name, 0)
		acks := map[string]int64{}
		acknowledged(t, out, 1+random.IntN(80), acks)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		acknowledged(t, out, -1, acks) // what it said before it died
		c.Wait()
		survived(t, path, name, acks)
	}
}

// survived checks that the database holds what was acknowledged and is sound.
func survived(t *testing.T, path, name string, acks map[string]int64) {
	t.Helper()
	db := open(t, path)
	defer db.Close()
	total := int64(0)
	for i := range writers {
		l := childLine(name, i)
		total += acks[l.ID]
		if acks[l.ID] == 0 {
			continue
		}
		if err := l.verify(t.Context(), db, acks[l.ID]); err != nil {
			t.Fatalf("conversation %s after kill: %v", l.ID, err)
		}
	}
	problems, err := db.Check(t.Context())
	if err != nil || len(problems) > 0 {
		t.Fatalf("check after kill: %v, %v", problems, err)
	}
	if total == 0 {
		t.Fatal("the child was killed before it had committed anything: the test shows nothing")
	}
	l := &line{Key: store.Key{Tenant: "t", ID: name + "-after"}}
	if err := l.commit(t.Context(), db); err != nil {
		t.Fatalf("commit after kill: %v", err)
	}
}

// TestProcesses has several processes write to one database at once.
func TestProcesses(t *testing.T) {
	const processes = 3
	each := testkit.Depth(10, 40)
	path := filepath.Join(t.TempDir(), "decant.db")
	acks := map[string]int64{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range processes {
		c, out := start(t, path, fmt.Sprint("p", i), each) // they also migrate the new file at once
		wg.Go(func() {
			own := map[string]int64{}
			acknowledged(t, out, -1, own)
			if err := c.Wait(); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for id, v := range own {
				acks[id] = v
			}
		})
	}
	wg.Wait()
	if len(acks) != processes*writers {
		t.Fatalf("%d conversations were written, want %d", len(acks), processes*writers)
	}
	for i := range processes {
		survived(t, path, fmt.Sprint("p", i), acks)
	}
}
