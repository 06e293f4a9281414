package soak

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/decantdev/decant/testing/testkit"
)

// A gate is a gateway that runs as its users run it.
type gate struct {
	t           *testing.T
	dir, bin    string
	base        string
	metrics     string
	cmd         *exec.Cmd
	poor, hasty *tenant // with limits that they reach
	bulk        *tenant // with one that it does not

	said  chan string // the line that says that it serves
	ended chan struct{}

	mu    sync.Mutex
	warns map[string]int
	races string
}

// startGate builds decant and starts it.
func startGate(t *testing.T, dir, upstream string, race bool) *gate {
	t.Helper()
	g := &gate{t: t, dir: dir, bin: filepath.Join(dir, "decant"), said: make(chan string, 1), ended: make(chan struct{}), warns: map[string]int{}}
	build := []string{"build", "-o", g.bin}
	if race {
		build = append(build, "-race")
	}
	cmd := exec.Command("go", append(build, "../cmd/decant")...)
	if race {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build decant: %v\n%s", err, out)
	}
	settings := fmt.Sprintf("anthropic_upstream: %s\nopenai_upstream: %s\nwindow: %d\nmetrics_listen: 127.0.0.1:%d\nkeys:\n- {tenant: alice, key: %s}\n- {tenant: bob, key: %s}\n",
		upstream, upstream, window, freePort(t), alice.key, bob.key)
	if err := os.WriteFile(g.file("decant.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	g.start()
	g.poor = g.addKey("poor", "--usd-per-day", "2")
	g.hasty = g.addKey("hasty", "--requests-per-minute", "60")
	g.bulk = g.addKey("bulk", "--usd-per-day", "1000")
	for _, who := range []*tenant{g.poor, g.hasty, g.bulk} {
		g.knows(who)
	}
	return g
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (g *gate) file(name string) string { return filepath.Join(g.dir, name) }

// environ is the environment without settings for this test or for others.
func (g *gate) environ() []string {
	all := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "DECANT_") })
	return append(all, "DECANT_DB="+g.file("d.db"))
}

// start starts the gateway and waits until it serves.
func (g *gate) start() {
	g.cmd = exec.Command(g.bin, "serve", "--config", g.file("decant.yaml"), "--listen", "127.0.0.1:0")
	g.cmd.Env = g.environ()
	out, err := g.cmd.StderrPipe()
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { g.cmd.Process.Kill() })
	log, err := os.Create(g.file("gateway.log"))
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { log.Close() })
	go g.listen(io.TeeReader(out, log))
	line := <-g.said
	at := func(name string) string {
		m := regexp.MustCompile(name + `=(\S+)`).FindStringSubmatch(line)
		if m == nil {
			g.t.Fatalf("the gateway does not serve: %s", line)
		}
		return "http://" + m[1]
	}
	g.base, g.metrics = at("listen"), at("metrics")
}

// differs is what makes lines of a log differ that say the same.
var differs = regexp.MustCompile(`\b[0-9a-f-]{8,}\b|\d+`)

// listen reads the log: warnings are counted by what they say, those of requests left out, because clients see them.
func (g *gate) listen(r io.Reader) {
	defer close(g.ended)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	line := ""
	for serving := false; lines.Scan(); {
		line = lines.Text()
		if !serving && strings.Contains(line, "msg=serving") {
			serving = true
			g.said <- line
		}
		g.mu.Lock()
		switch {
		case g.races != "" || strings.Contains(line, "DATA RACE") || strings.HasPrefix(line, "panic:"):
			g.races += line + "\n"
		case strings.Contains(line, "level=ERROR"), strings.Contains(line, "level=WARN") && !strings.Contains(line, "msg=request"):
			_, text, _ := strings.Cut(line, "level=")
			g.warns[differs.ReplaceAllString(text, "#")]++
		}
		g.mu.Unlock()
	}
	select {
	case g.said <- line: // it has ended instead
	default:
	}
}

// decant runs a command on the gateway's database.
func (g *gate) decant(args ...string) (stdout string, err error) {
	cmd := exec.Command(g.bin, args...)
	cmd.Env = g.environ()
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("decant %s: %w: %s", strings.Join(args, " "), err, messages.String())
	}
	return strings.TrimSpace(string(out)), err
}

// addKey makes a tenant with a key in the database.
func (g *gate) addKey(name string, limits ...string) *tenant {
	key, err := g.decant(append([]string{"key", "add", name}, limits...)...)
	if err != nil {
		g.t.Fatal(err)
	}
	return &tenant{name, key}
}

// knows waits until the gateway has noticed a key.
func (g *gate) knows(who *tenant) {
	testkit.Eventually(g.t, "the gateway notices the key of "+who.name, func() bool {
		r, err := http.NewRequest(http.MethodGet, g.base+"/v1/models", nil)
		if err != nil {
			g.t.Fatal(err)
		}
		r.Header = http.Header{"X-Decant-Key": {who.key}, "X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			g.t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// stop asks the gateway to end, and wants it to end well.
func (g *gate) stop() {
	begin := time.Now()
	g.cmd.Process.Signal(syscall.SIGTERM)
	<-g.ended
	if err := g.cmd.Wait(); err != nil {
		g.t.Errorf("after SIGTERM the gateway ended with %v", err)
	}
	g.t.Logf("ended %.1f s after SIGTERM", time.Since(begin).Seconds())
}

// judge says what the log has said.
func (g *gate) judge() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for text, n := range g.warns {
		g.t.Logf("the log, %d times: %.300s", n, text)
	}
	if g.races != "" {
		g.t.Errorf("the gateway:\n%.8000s", g.races)
	}
}
