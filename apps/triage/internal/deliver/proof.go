package deliver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/mask"
	"github.com/decantdev/decant/internal/git"
)

// A Prover finds out whether a patch that a model has written is worth a pull request: it applies to the commit that ran,
// the repository builds, its tests pass, and a test of the patch fails without the rest of it.
//
// The settings of the repository say how to build and to test, never the patch. The commands run code that a model has
// written, so they are confined as the commands of agents are (package tools): they see the commit, the programs of the
// machine and the folders of the tool chain that the settings name, write to a temporary folder only and have no network.
// Where that is not possible nothing is run, unless the settings say confined: false. What the commands print, and what
// they do to the files, stays on this machine.
type Prover struct {
	Code *code.Reader
	Repo string // owner/name on GitHub of the one repository that gets pull requests

	Timeout time.Duration // for building, and for testing; 0: ten minutes
}

// mostFiles is how many files a patch may change.
const mostFiles = 20

// refused returns that a patch fails a check, of which nothing was printed.
func refused(stage string) *Refusal { return &Refusal{Stage: stage} }

// Try tries the patch of an error. A refusal says why it is not worth a pull request; an error, that it could not be
// tried.
func (p *Prover) Try(ctx context.Context, e *ReportedError) (*Branch, *Refusal, error) {
	f := e.Finding
	if len(f.Evidence) == 0 {
		return nil, refused("there is no evidence that names a commit"), nil
	}
	at := code.Version{Repo: f.Evidence[0].Repo, SHA: f.Evidence[0].SHA}
	repo, why := p.repository(at.Repo)
	if why != "" {
		return nil, refused(why), nil
	}
	fix, tests, why := parts(f.Patch)
	if why != "" {
		return nil, refused(why), nil
	}
	dir, err := os.MkdirTemp("", "decant-proof-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	t := &trial{repo: repo, dir: filepath.Join(dir, "repo"), timeout: p.Timeout}
	if err := p.export(ctx, at, t.dir); err != nil {
		return nil, nil, err
	}
	if refused, err := t.run(ctx, fix, tests); refused != nil || err != nil {
		return nil, refused, err
	}
	// What has run may have left anything in the files: the branch has those of the commit with the patch, and nothing
	// was run among them.
	clean := filepath.Join(dir, "branch")
	if err := p.export(ctx, at, clean); err != nil {
		return nil, nil, err
	}
	if refused, err := apply(ctx, clean, fix+tests); refused != nil || err != nil {
		return nil, refused, err
	}
	return p.branch(ctx, at, clean, f.Patch)
}

// export makes a folder with the files of a version.
func (p *Prover) export(ctx context.Context, at code.Version, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	_, err := p.Code.Export(ctx, at, dir)
	return err
}

// repository returns what the settings say of a repository, or why there are no pull requests for it.
func (p *Prover) repository(name string) (code.Repo, string) {
	all := p.Code.Repos()
	i := slices.IndexFunc(all, func(r code.Repo) bool { return r.Name == name })
	switch {
	case i < 0:
		return code.Repo{}, "the repository is not in the settings"
	case all[i].Name != p.Repo && all[i].Remote != p.Repo:
		return code.Repo{}, fmt.Sprintf("it is for %s, and pull requests go to %s", name, p.Repo)
	case len(all[i].Build) == 0 || len(all[i].Test) == 0:
		return code.Repo{}, fmt.Sprintf("the settings do not say how %s is built and tested: build and test under repos", name)
	}
	return all[i], ""
}

// testFile matches the names of files with tests, as the tools of Go, Python, Ruby, Java, C# and JavaScript find them.
var testFile = regexp.MustCompile(`(?:_test\.(?:go|py|rb|exs|dart|c|cc|cpp)|_spec\.rb|\.(?:test|spec)\.[cm]?[jt]sx?|Tests?\.(?:java|kt|cs|php|scala|swift))$|^test_[^/]*\.(?:py|rb)$`)

// isTest reports whether a file holds tests.
func isTest(name string) bool { return testFile.MatchString(path.Base(name)) }

// parts splits a patch into the fix and its tests, or says why it is refused.
func parts(patch string) (fix, tests, why string) {
	files := code.ReadPatch(patch)
	switch {
	case len(files) == 0:
		return "", "", "it is no unified diff of git"
	case len(files) > mostFiles:
		return "", "", fmt.Sprintf("it changes %d files; more than %d are not tried", len(files), mostFiles)
	}
	var m mask.Masker
	added := false
	for _, f := range files {
		switch {
		case !filepath.IsLocal(f.Name) || strings.HasPrefix(f.Name, ".") || strings.Contains(f.Name, "/."):
			return "", "", fmt.Sprintf("it changes %q, and hidden files, settings of services among them, are left to people", f.Name)
		case isTest(f.Name) && !f.Gone && len(f.Added) > 0:
			added = true
		}
		if lines := strings.Join(f.Added, "\n"); m.Code(lines) != lines {
			return "", "", fmt.Sprintf("what it adds to %s looks like a secret or personal data", f.Name)
		}
	}
	if !added {
		return "", "", "it brings no test"
	}
	fix, tests = split(patch)
	if fix == "" {
		return "", "", "it changes tests only"
	}
	return fix, tests, ""
}

// split returns the part of a patch that changes no tests, and the other.
func split(patch string) (fix, tests string) {
	const head = "diff --git "
	for i, part := range strings.Split("\n"+strings.TrimSpace(patch)+"\n", "\n"+head) {
		if i == 0 || part == "" {
			continue
		}
		part = head + strings.TrimSuffix(part, "\n") + "\n"
		if files := code.ReadPatch(part); len(files) > 0 && isTest(files[0].Name) {
			tests += part
		} else {
			fix += part
		}
	}
	return fix, tests
}

// branch returns the files as the patch has left them.
func (p *Prover) branch(ctx context.Context, at code.Version, dir, patch string) (*Branch, *Refusal, error) {
	programs, err := p.Code.Programs(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	b := &Branch{SHA: at.SHA, Files: map[string]string{}}
	for _, f := range code.ReadPatch(patch) {
		if programs[f.Name] {
			return nil, refused("it changes " + f.Name + ", which is a program by its mode"), nil
		}
		data, err := root.ReadFile(filepath.FromSlash(f.Name))
		switch {
		case errors.Is(err, os.ErrNotExist):
			b.Gone = append(b.Gone, f.Name)
		case err != nil:
			return nil, nil, err
		default:
			b.Files[f.Name] = string(data)
		}
	}
	return b, nil, nil
}

// apply applies a patch in a folder, and says why it does not apply. Git runs above the folder: what was run in it may
// have made it a repository, whose settings name programs.
func apply(ctx context.Context, dir, patch string) (*Refusal, error) {
	c := git.Command(ctx, filepath.Dir(dir), "apply", "--whitespace=nowarn", "--directory="+filepath.Base(dir), "-")
	c.Stdin = strings.NewReader(patch)
	out, err := c.CombinedOutput()
	if _, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return &Refusal{Stage: "it does not apply at the commit that ran", Printed: string(out)}, nil
	}
	return nil, err
}
