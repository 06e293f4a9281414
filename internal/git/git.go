// Package git runs git in repositories that others have written. What such a repository says, in its settings, its attributes
// or its hooks, has git run no program.
package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A setting is a key of git's settings with its value.
type setting struct{ key, value string }

// inert are the settings by which git runs no program of its own accord, where a setting has one name.
var inert = []setting{
	{"core.hooksPath", os.DevNull}, {"core.fsmonitor", "false"}, {"core.pager", "cat"}, {"credential.helper", ""}, {"diff.external", ""},
	{"interactive.diffFilter", ""}, {"log.showSignature", "false"}, {"gc.auto", "0"}, {"submodule.recurse", "false"}, {"diff.ignoreSubmodules", "all"},
}

// reading are the settings by which git, beside that, reads the repository alone, and prints the same for everybody.
var reading = []setting{
	{"safe.directory", "*"}, {"protocol.allow", "never"}, {"core.attributesFile", os.DevNull}, {"core.quotePath", "false"}, {"color.ui", "false"},
	{"diff.orderFile", os.DevNull}, {"blame.ignoreRevsFile", ""},
}

// Command returns a git command in a folder. It reads no settings but those of the repository, runs no program that they name,
// and reaches no network. Who calls it makes sure that no argument from outside is taken for an option,
// tells commands that can show differences --no-ext-diff and --no-textconv, and compares nothing with the working tree, whose
// filters would run.
func Command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "--no-pager", "--no-replace-objects"}, args...)...)
	c.Env = append(set(nil, append(inert, reading...)),
		"PATH="+os.Getenv("PATH"), "SYSTEMROOT="+os.Getenv("SYSTEMROOT"), "TMPDIR="+os.TempDir(), "HOME="+os.DevNull, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_EDITOR=true", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	return c
}

// Environment returns an environment in which the user's own git, started in a folder by others, runs no program that the
// repository there names. Settings of the user and of the machine stay in force, but for hooks, monitors, pagers, editors,
// helpers for credentials and programs for differences.
func Environment(ctx context.Context, dir string, env []string) ([]string, error) {
	named, err := programs(ctx, dir, env)
	if err != nil {
		return nil, err
	}
	return append(set(env, append(inert[:len(inert):len(inert)], named...)),
		"GIT_PAGER=cat", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_ASKPASS=true", "GIT_TERMINAL_PROMPT=0"), nil
}

// set adds settings to an environment, behind those that it has already.
func set(env []string, all []setting) (out []string) {
	const count = "GIT_CONFIG_COUNT="
	n := 0
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, count); ok {
			n, _ = strconv.Atoi(value) // git refuses an environment with anything else
			continue
		}
		out = append(out, e)
	}
	for _, s := range all {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s.value))
		n++
	}
	return append(out, count+strconv.Itoa(n))
}

// program matches the keys of settings that name a program under a name that the repository chooses, or one that it has no need to name.
var program = lazyregexp.New(`(?i)^(?:alias|pager|browser|man|difftool|mergetool|sendemail|trailer)\.|` +
	`^(?:diff\..*\.(?:command|textconv)|filter\..*\.(?:clean|smudge|process|required)|merge\..*\.driver|credential\..*\.helper|` +
	`core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand|editor)|sequence\.editor|gpg\.(?:.*\.)?(?:program|defaultkeycommand)|` +
	`remote\..*\.(?:vcs|uploadpack|receivepack)|uploadpack\.packobjectshook|gc\.recentobjectshook|submodule\..*\.(?:update|ignore)|web\.browser)$`)

// programs returns what takes the programs back that the settings of a folder's repository name. A setting cannot be unset from
// outside, and an empty one is for some keys a program that does not exist, so that git fails: it does not run the other.
func programs(ctx context.Context, dir string, env []string) (out []setting, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, "git", "-C", dir, "config", "--list", "--show-scope", "--name-only", "-z")
	c.Env = append(set(env, inert), "LC_ALL=C")
	text, err := c.Output()
	if err != nil && ctx.Err() == nil {
		return nil, nil // git is not installed, or refuses these settings for whoever runs it
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of git in %s: %w", dir, err)
	}
	fields := strings.Split(string(text), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if scope, key := fields[i], fields[i+1]; (scope == "local" || scope == "worktree") && program.MatchString(key) {
			out = append(out, setting{key, neutral(key)})
		}
	}
	return out, nil
}

// neutral returns a value under which git does what it does without the setting, as far as there is one.
func neutral(key string) string {
	switch name := strings.ToLower(key[strings.LastIndexByte(key, '.')+1:]); name {
	case "textconv":
		return "cat"
	case "required":
		return "false"
	case "update":
		return "none"
	case "ignore":
		return "all"
	case "uploadpack", "receivepack":
		return "git-" + name[:len(name)-4] + "-pack"
	}
	return ""
}
