package replay

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
)

// A Policy is a way to decide what a model is sent.
type Policy struct {
	Name  string
	About string // one sentence
	start func(*stage) player
	own   bool // it is what the recorded client did
}

// A player plays one conversation under a policy.
type player interface {
	// view returns what is sent for the request of a number, counted from 0.
	view(q int) (step, error)
}

// A step is what a player sends for one request.
type step struct {
	messages []decant.Message
	attached []cost.Block      // sent as well, of unknown content
	mark     *policy.Boundary  // of a marker of its own; nil: the policy is taken to mark what it leaves alone
	calls    []call            // of the client's own, before
	renewed  bool              // the client has put its own part of system prompt and tools together anew, after the calls
	made     []decant.Decision // by this step
	reason   policy.Reason     // why it poured, empty when it did not
}

// defaultTrim and defaultKeep are the numbers of "trim" and "keep-last" without any.
const (
	defaultTrim = 1500
	defaultKeep = 10
)

// Parse returns the policy of a name: none, client, trim or trim-N, keep-last-N, drop-oldest, the name of a preset, the
// name of a preset and a level of early pours ("default:high"), or a YAML file. A preset that is named without a level gets
// the one given as early, its own when that is empty.
func Parse(name, early string) (Policy, error) {
	base, number, _ := cutNumber(name)
	switch base {
	case "none":
		return Policy{Name: name, About: "Everything is sent, the client's own compactions left out.", start: startNone}, nil
	case "client":
		return Policy{Name: name, About: "What the recorded client sent: behind each of its own compactions its summary and what it kept.", start: startClient, own: true}, nil
	case "trim":
		n := cmp.Or(number, defaultTrim)
		return Policy{Name: name, About: fmt.Sprintf("Results are cut to head and tail of %d characters when they enter.", n), start: startTrim(n)}, nil
	case "keep-last":
		n := cmp.Or(number, defaultKeep)
		return Policy{Name: name, About: fmt.Sprintf("All but the newest %d results are cleared on every request.", n), start: startKeep(n)}, nil
	case "drop-oldest":
		return Policy{Name: name, About: "The oldest rounds are dropped when the window is full.", start: startDrop}, nil
	}
	file, level, _ := strings.Cut(name, ":")
	p, err := preset.Load(file)
	if err != nil {
		return Policy{}, fmt.Errorf("policy %q is neither none, client, trim-N, keep-last-N nor drop-oldest: %w", name, err)
	}
	if level = cmp.Or(level, early); level != "" {
		if p, err = p.WithEarlyPours(level); err != nil {
			return Policy{}, fmt.Errorf("policy %q: %w", name, err)
		}
	}
	return Policy{Name: name, About: p.About, start: startPreset(p)}, nil
}

// IsPreset reports whether a policy of that name is one of Decant's presets, or a file of one: what the
// gateway would do.
func IsPreset(name string) bool {
	base, _, _ := cutNumber(name)
	switch base {
	case "none", "client", "trim", "keep-last", "drop-oldest":
		return false
	}
	return true
}

// Defaults returns the names of the policies that are compared when none is asked for. What was really
// sent comes first; where the client compacted nothing, that is what "none" sends as well.
func Defaults() []string {
	return []string{"client", "none", "trim", "keep-last-10", "drop-oldest", "default:low", "default", "default:high"}
}

// cutNumber splits "trim-500" into its name and its number.
func cutNumber(name string) (base string, n int, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return name, 0, false
	}
	n, err := strconv.Atoi(name[i+1:])
	if err != nil || n < 0 {
		return name, 0, false
	}
	return name[:i], n, true
}
