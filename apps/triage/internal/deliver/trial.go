package deliver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/apps/triage/code"
)

// A trial is the trying of one patch, in a folder with the files of the commit.
type trial struct {
	repo    code.Repo
	dir     string
	timeout time.Duration
	shell   agent.Tool
}

// run tries a patch: first the repository without it, then with its tests alone, then as a whole.
func (t *trial) run(ctx context.Context, fix, tests string) (*Refusal, error) {
	free := t.repo.Confined != nil && !*t.repo.Confined
	limit := cmp.Or(t.timeout, 10*time.Minute)
	set, err := tools.New(tools.Options{Dir: t.dir, Fetch: tools.Fetch{Off: true}, Shell: tools.Shell{Attended: free, Apart: true, Read: t.repo.Toolchain, Timeout: limit}})
	if err != nil {
		return nil, err
	}
	defer set.Close()
	if set.Confined() == "" && !free {
		return nil, errors.New("what it runs cannot be confined on this machine: install bubblewrap, or say confined: false at the repository in the settings")
	}
	for _, one := range set.Tools() {
		if one.Name == "bash" {
			t.shell = one
		}
	}
	for _, stage := range []struct {
		patch   string
		command []string
		fails   bool // it has to
		why     string
	}{
		{"", t.repo.Build, false, "the repository does not build as it is"},
		{"", t.repo.Test, false, "the tests of the repository fail as it is"},
		{tests, t.repo.Test, true, "its new test passes without the fix"},
		{fix, t.repo.Build, false, "the repository does not build with it"},
		{"", t.repo.Test, false, "the tests fail with it"},
	} {
		if stage.patch != "" {
			if refused, err := apply(ctx, t.dir, stage.patch); refused != nil || err != nil {
				return refused, err
			}
		}
		failed, out, err := t.command(ctx, stage.command)
		if err != nil {
			return nil, err
		}
		if failed != stage.fails {
			return &Refusal{Stage: stage.why, Printed: out}, nil
		}
	}
	return nil, nil
}

// command runs a program of the settings.
func (t *trial) command(ctx context.Context, argv []string) (failed bool, out string, err error) {
	var quoted []string
	for _, a := range argv {
		quoted = append(quoted, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
	}
	// The shell keeps the folder that a command leaves it in, and a build could lead it elsewhere. Python takes a file that was changed within a second,
	// to the same length, for the one that it has compiled.
	text := fmt.Sprintf("cd '%s' && PYTHONDONTWRITEBYTECODE=1 %s", strings.ReplaceAll(t.dir, "'", `'\''`), strings.Join(quoted, " "))
	args, err := json.Marshal(map[string]any{"command": text})
	if err != nil {
		return false, "", err
	}
	r, err := t.shell.Run(ctx, &agent.Call{ID: "proof", Tool: "bash", Arguments: args, Progress: func(string) {}})
	if err == nil {
		err = ctx.Err()
	}
	return r.Error, r.Text, err
}
