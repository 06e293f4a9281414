package deploy_test

import (
	"bufio"
	"debug/elf"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// An image is what the Dockerfile says.
type image struct {
	build   string   // the command that builds the binary
	base    string   // of the last stage
	user    string   // likewise
	env     []string // likewise
	command []string // entry point and arguments
}

func dockerfile(t *testing.T) (m image) {
	t.Helper()
	for line := range strings.Lines(read(t, "../Dockerfile")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "FROM":
			m = image{build: m.build, base: rest}
		case word == "RUN" && strings.Contains(rest, "go build"):
			m.build = rest
		case word == "USER":
			m.user = rest
		case word == "ENV":
			m.env = strings.Fields(rest)
		case word == "ENTRYPOINT" || word == "CMD":
			var args []string
			if err := json.Unmarshal([]byte(rest), &args); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			m.command = append(m.command, args...)
		}
	}
	return m
}

const nobody = 65532 // as in the Dockerfile

// The image is built by its own command and run as the image says: nothing around the binary but its folder, and
// a user without rights.
func TestImageRunsInAnEmptyRoot(t *testing.T) {
	m := dockerfile(t)
	if m.base != "scratch" || m.user != "65532:65532" || strings.Join(m.command, " ") != "/decant serve" {
		t.Fatalf("the last stage is from %s, as %s, and runs %q", m.base, m.user, m.command)
	}
	testkit.NeedFull(t, "the binary of the image, built by the image's own command, runs in an empty root")
	root := t.TempDir()
	build(t, m.build, filepath.Join(root, "decant"))
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root may change the root of a process; run this test as root to see the image's binary run in an empty one")
	}
	if err := os.Mkdir(filepath.Join(root, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(root, "data"), nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	up := httptest.NewServer(sandbox.New(sandbox.Options{}))
	defer up.Close()
	env := append(m.env, "DECANT_LISTEN=127.0.0.1:0", "DECANT_ANTHROPIC_UPSTREAM="+up.URL, "DECANT_KEYS=alice:first")
	cmd := inside(root, env, m.command...)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	log := bufio.NewReader(out)
	line, _ := log.ReadString('\n') // empty: it has ended
	address := regexp.MustCompile(`listen=(\S+)`).FindStringSubmatch(line)
	if address == nil {
		rest, _ := log.ReadString(0)
		t.Fatalf("it does not serve: %s%s", line, rest)
	}
	ended := make(chan string)
	go func() { // a log that nobody reads would hold it up
		rest, _ := io.ReadAll(log)
		ended <- string(rest)
	}()
	second, err := inside(root, env, "/decant", "key", "add", "bob").Output()
	if err != nil {
		t.Fatalf("key add: %v", err)
	}
	for key, want := range map[string]int{"first": 200, "": 401} {
		if got := ask(t, address[1], key); got != want {
			t.Errorf("key %q: status %d, want %d", key, got, want)
		}
	}
	testkit.Eventually(t, "the second key is noticed", func() bool { return ask(t, address[1], strings.TrimSpace(string(second))) == 200 })
	cmd.Process.Signal(syscall.SIGTERM)
	rest := <-ended
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v\n%s", err, rest)
	}
	if info, err := os.Stat(filepath.Join(root, "data", "decant.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the database: %v, %v", info, err)
	}
}

// build runs the image's command for the binary, with another name for the result.
func build(t *testing.T, command, binary string) {
	t.Helper()
	command = strings.Replace(command, "/out/decant", binary, 1)
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary is not static: it wants a loader, and an empty image has none")
		}
	}
}

// inside returns a command that sees a folder as the whole file system and has no rights in it.
func inside(root string, env []string, command ...string) *exec.Cmd {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Path, cmd.Err = command[0], nil // in there
	cmd.Dir, cmd.Env = "/", env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// ask sends a request for a message and returns the status.
func ask(t *testing.T, address, key string) int {
	t.Helper()
	const hello = `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Hello."}]}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/messages", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"X-Decant-Key": {key}, "X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}
