package sandbox

import (
	"net/http"
	"slices"
	"strings"
)

// The betas that switch on something the sandbox checks.
const (
	betaBinding  = "thinking-binding-controls-2026-08-01"
	betaEditing  = "context-management-2025-06-27"
	betaScope    = "prompt-caching-scope-2026-01-05"
	betaBudgets  = "task-budgets-2026-03-13"
	betaTurns    = "per-turn-control-2026-07-01"
	betaMillion  = "context-1m-2025-08-07"
	betaExceeded = "model-context-window-exceeded-2025-08-26"
	betaDemand   = "compact-2026-09-04" // compaction on demand
	betaCompact  = "compact-2026-01-12" // compaction at a threshold
)

// knownBetas are the values of anthropic-beta that the sandbox accepts: those of
// docs/reference/anthropic.md, "Betas", that it can honour, and what known clients send.
var knownBetas = []string{
	betaBinding, betaEditing, betaScope, betaBudgets, betaExceeded, betaTurns, betaMillion, betaDemand, betaCompact,
	"extended-cache-ttl-2025-04-11",
	"interleaved-thinking-2025-05-14",
	"fast-mode-2026-02-01",
	"output-300k-2026-03-24",
	"token-counting-2024-11-01",
	"claude-code-20250219",
	"thinking-token-count-2026-05-13",
	"mid-conversation-system-2026-04-07",
	"effort-2025-11-24",
	"structured-outputs-2025-11-13",
	"advanced-tool-use-2025-11-20",
	"mid-conversation-tool-changes-2026-07-01", // Claude Code always sends it; the blocks that it permits are refused
}

// absentBetas exist at the real API, but what they switch on does not exist here. Accepting one
// silently would let a client believe that it works.
var absentBetas = []string{
	"message-threads-2026-08-12",
	"cache-diagnosis-2026-04-07",
	"mid-conversation-output-config-2026-07-01",
	"mid-conversation-system-clear-at-2026-08-21",
	"inline-tools-2026-09-15",
}

// betas is the set of betas that a request asks for.
type betas []string

func (b betas) has(name string) bool { return slices.Contains(b, name) }

// permit reports whether a field or block that needs one of the betas in a list with bars may be there.
func (b betas) permit(needs string) bool {
	return needs == "" || slices.ContainsFunc(strings.Split(needs, "|"), b.has)
}

// readBetas returns the betas of all header lines, or the refusal of one that is not known.
func readBetas(h http.Header, more []string) (betas, *apiError) {
	var out betas
	for _, line := range h.Values("Anthropic-Beta") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			if err := checkBeta(name, more); err != nil {
				return nil, err
			}
			out = append(out, name)
		}
	}
	return out, nil
}

func checkBeta(name string, more []string) *apiError {
	switch {
	case slices.Contains(knownBetas, name), slices.Contains(more, name):
		return nil
	case slices.Contains(absentBetas, name):
		return invalid("Unexpected value(s) `%s` for the `anthropic-beta` header: invalid beta flag (this sandbox does not offer it).", name)
	}
	return invalid("Unexpected value(s) `%s` for the `anthropic-beta` header: invalid beta flag. Please consult the documentation or try again without the header.", name)
}
