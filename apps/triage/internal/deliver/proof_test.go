package deliver_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
)

// The repository's programs are scripts of a shell, which every machine has; what they are called is what counts.
var files = map[string]string{
	"sum.py":        "sum() { echo $(($1 + $2 + 1)); }\n",
	"other_test.py": ". ./sum.py\n[ \"$(sum 0 0)\" != 7 ]\n",
}

const (
	fix = `diff --git a/sum.py b/sum.py
--- a/sum.py
+++ b/sum.py
@@ -1 +1 @@
-sum() { echo $(($1 + $2 + 1)); }
+sum() { echo $(($1 + $2)); }
`
	test = `diff --git a/sum_test.py b/sum_test.py
new file mode 100644
--- /dev/null
+++ b/sum_test.py
@@ -0,0 +1,2 @@
+. ./sum.py
+[ "$(sum 1 2)" = 3 ]
`
)

// A shop is a repository with a defect.
type shop struct {
	*testing.T
	dir, sha string
	repo     code.Repo
	printed  string // by the last patch that was refused
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{T: t, dir: t.TempDir()}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.git("init", "-q", "-b", "main")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "A sum")
	s.sha = s.git("rev-parse", "HEAD")
	s.repo = code.Repo{Name: "acme/shop", Dir: s.dir, Build: []string{"sh", "-n", "sum.py"}, Test: []string{"sh", "-c", "for f in *_test.py; do sh -e $f || { echo $f fails; exit 1; }; done"}}
	return s
}

func (s *shop) git(args ...string) string {
	s.Helper()
	c := exec.Command("git", append([]string{"-C", s.dir}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := c.CombinedOutput()
	if err != nil {
		s.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// try tries a patch, and returns the files of the branch, or why there is none.
func (s *shop) try(patch string) (map[string]string, string) {
	s.Helper()
	r, err := code.New(code.Options{Repos: []code.Repo{s.repo}})
	if err != nil {
		s.Fatal(err)
	}
	e := &deliver.ReportedError{Case: investigate.Case{Number: 1}, Finding: &investigate.Finding{}}
	e.Finding.Patch, e.Finding.Evidence = patch, []investigate.Evidence{{Repo: "acme/shop", SHA: s.sha, Path: "sum.py", Line: 1}}
	b, refused, err := (&deliver.Prover{Code: r, Repo: "acme/shop"}).Try(s.Context(), e)
	switch {
	case err != nil:
		return nil, "error: " + err.Error()
	case b == nil:
		s.printed = refused.Printed
		return nil, refused.Stage
	}
	return b.Files, ""
}

// A patch is proven where it applies, builds, the tests pass, and its new test fails without it. Each of these alone refuses it.
func TestProof(t *testing.T) {
	s := newShop(t)
	files, why := s.try(fix + test)
	if strings.HasPrefix(why, "error: what it runs cannot be confined") {
		t.Skip(why)
	}
	if why != "" || len(files) != 2 || !strings.Contains(files["sum.py"], "$1 + $2))") || !strings.Contains(files["sum_test.py"], "= 3") {
		t.Fatalf("%q, %v", why, files)
	}
	for want, patch := range map[string]string{
		"it brings no test":                     fix,
		"it changes tests only":                 test,
		"it is no unified diff":                 "sum() should add two numbers",
		"does not apply":                        strings.ReplaceAll(fix, "-sum() { echo", "-sum() { printf") + test,
		"its new test passes without the fix":   fix + strings.ReplaceAll(test, "= 3", "= 4"),
		"the repository does not build with it": strings.ReplaceAll(fix, "+sum() { echo $(($1 + $2)); }", "+sum() { echo $(($1 + $2));") + test,
		"the tests fail with it":                strings.ReplaceAll(fix, "+sum() { echo $(($1 + $2)); }", "+sum() { echo 7; }") + test,
		"hidden files, settings of services":    strings.ReplaceAll(fix, "sum.py", ".github/workflows/ci.py") + test,
		"looks like a secret":                   fix + strings.ReplaceAll(test, "+. ./sum.py", "+password = \"hunter2hunter2\""),
		`it changes "../sum.py"`:                strings.ReplaceAll(fix, "sum.py", "../sum.py") + test,
	} {
		if files, why := s.try(patch); files != nil || !strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
	s.repo.Test = nil
	if _, why := s.try(fix + test); !strings.Contains(why, "the settings do not say how acme/shop is built and tested") {
		t.Errorf("%q", why)
	}
	s.repo.Test = []string{"false"}
	if _, why := s.try(fix + test); !strings.Contains(why, "the tests of the repository fail as it is") {
		t.Errorf("%q", why)
	}
}

// outside returns a folder that commands see unless they are kept apart.
func outside(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "decant-test-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// within tests with each kind of walls that this machine has. Programs are in a folder of the tool chain: without it,
// they are not there.
func within(t *testing.T, do func(t *testing.T, s *shop)) {
	for _, kind := range []string{"bubblewrap", "landlock"} {
		t.Run(kind, func(t *testing.T) {
			bin, programs := outside(t), []string{"sh", "bash", "git", "cat", "mkdir", "chmod"}
			if kind == "bubblewrap" {
				programs = append(programs, "bwrap")
			}
			for _, name := range programs {
				path, err := exec.LookPath(name)
				if err == nil {
					err = os.Symlink(path, filepath.Join(bin, name))
				}
				if err != nil {
					t.Skip(err)
				}
			}
			t.Setenv("PATH", bin)
			s := newShop(t)
			s.repo.Toolchain = []string{bin}
			if _, why := s.try(fix + test); strings.HasPrefix(why, "error: what it runs cannot be confined") {
				t.Skip(why)
			} else if why != "" {
				t.Fatal(why, s.printed)
			}
			do(t, s)
		})
	}
}

// What a patch runs sees the commit, programs and the tool chain. What it prints is kept apart from the stage that
// failed, which is all that is sent.
func TestWhatAPatchRunsSees(t *testing.T) {
	within(t, func(t *testing.T, s *shop) {
		dir := outside(t)
		if err := os.WriteFile(filepath.Join(dir, "plans"), []byte("for nobody else"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.repo.Toolchain[0], "notes"), []byte("of the tool chain"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, why := s.try(fix + strings.ReplaceAll(test, "+. ./sum.py", "+cat sum.py "+s.repo.Toolchain[0]+"/notes "+dir+"/plans "+s.dir+"/other_test.py; false"))
		if why != "the tests fail with it" {
			t.Errorf("the stage is %q", why)
		}
		if !strings.Contains(s.printed, "of the tool chain") || !strings.Contains(s.printed, "echo $(($1 + $2))") {
			t.Errorf("it does not see what it needs: %s", s.printed)
		}
		if strings.Contains(s.printed, "for nobody else") || strings.Contains(s.printed, "sum 0 0") {
			t.Errorf("it sees the machine: %s", s.printed)
		}
		s.repo.Toolchain, s.repo.Build = nil, []string{"cat", s.repo.Toolchain[0] + "/notes"}
		if _, why := s.try(fix + test); why != "the repository does not build as it is" || strings.Contains(s.printed, "of the tool chain") {
			t.Errorf("without the tool chain: %q, %s", why, s.printed)
		}
	})
}

// The branch has the files of the commit with the patch, whatever its tests make of them.
func TestTheBranchIsThePatch(t *testing.T) {
	within(t, func(t *testing.T, s *shop) {
		files, why := s.try(fix + strings.ReplaceAll(test, "+[", "+[ \"$(sum 1 2)\" = 4 ] || { cat /etc/hosts >>sum.py; echo '# more' >>sum_test.py; }; ["))
		if why != "" || len(files) != 2 || files["sum.py"] != "sum() { echo $(($1 + $2)); }\n" || !strings.HasSuffix(files["sum_test.py"], "= 3 ]\n") {
			t.Errorf("%q, %q", why, files)
		}
	})
}

// A test that makes its folder a repository with programs in the settings has none of them run outside of its walls.
func TestNothingOfATestRunsOutside(t *testing.T) {
	within(t, func(t *testing.T, s *shop) {
		mark := filepath.Join(outside(t), "ran")
		hostile := "+export GIT_CONFIG_GLOBAL=/dev/null; [ -e .git ] || { git init -q && for f in clean smudge; do git config filter.x.$f 'echo >" + mark + "; cat'; done; " +
			"git config core.fsmonitor 'echo >" + mark + "'; echo '* filter=x' >.gitattributes; }; . ./sum.py"
		if files, why := s.try(fix + strings.ReplaceAll(test, "+. ./sum.py", hostile)); why != "" || len(files) != 2 {
			t.Errorf("%q, %q: %s", why, files, s.printed)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Error("a program of the test ran outside")
		}
	})
}

// What a patch runs is confined: it writes nothing outside of its folder, and reaches no network.
func TestConfined(t *testing.T) {
	s := newShop(t)
	out := filepath.Join(t.TempDir(), "out")
	_, why := s.try(fix + strings.ReplaceAll(test, "+. ./sum.py", "+echo x >"+out+"; . ./sum.py"))
	if strings.HasPrefix(why, "error: what it runs cannot be confined") {
		t.Skip(why)
	}
	if _, err := os.Stat(out); err == nil {
		t.Errorf("it wrote outside: %q", why)
	}
}
