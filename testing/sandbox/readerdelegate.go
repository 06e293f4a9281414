package sandbox

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// delegateName is the tool by which agents delegate.
const delegateName = "delegate"

// delegateTo finds who is to do what.
var delegateTo = lazyregexp.New(`(?i)\bdelegate to ([\w-]+):\s*([^\n]+)`)

// delegates reports whether the user orders something to be delegated, and it can be.
func (p *Prompt) delegates(asked string) bool {
	return delegateTo.MatchString(asked) && slices.Contains(p.Tools, delegateName)
}

// delegations returns the calls that delegate what the user orders to be delegated, each once in a turn.
func (p *Prompt) delegations(asked string) (calls []Block) {
	if p.Choice == "none" || !p.delegates(asked) {
		return nil
	}
	for _, m := range delegateTo.FindAllStringSubmatch(asked, -1) {
		b := jsonspan.AppendQuote([]byte(`{"to":`), m[1])
		b = append(jsonspan.AppendQuote(append(b, `,"task":`...), m[2]), '}')
		if !p.called(string(b)) {
			calls = append(calls, Block{Kind: decant.KindUse, Name: delegateName, Input: b})
		}
	}
	return calls
}

// reports returns what came back of the delegations that the user has ordered, without the line of each that says who did it; empty: nothing did.
func (p *Prompt) reports(asked string) string {
	if !p.delegates(asked) || !p.answersCalls() {
		return ""
	}
	var said []string
	for _, b := range p.Messages[len(p.Messages)-1].Blocks {
		if _, report, ok := strings.Cut(b.Text, "\n\n"); ok && b.Kind == decant.KindResult {
			said = append(said, report)
		}
	}
	return strings.Join(said, "\n")
}
