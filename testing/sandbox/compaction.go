package sandbox

import (
	"slices"
	"unicode/utf8"
)

// compactionKind is the type of a block in which the server put what it summarized (docs/reference/anthropic.md,
// "Compaction"). A signed block stands for messages that are no longer sent; one without a signature stands behind
// the messages that it makes the server ignore.
const compactionKind = "compaction"

var compactionShape = []field{
	{"content", isText, false, ""}, {"signature", isText, false, ""}, {"encrypted_content", isText, false, ""},
	{"tool_changes", isList, false, ""}, {"cache_control", isMarker, false, ""},
}

// demandShapes are the fields of the member "compaction" of a request, by its type.
var demandShapes = map[string][]field{"summarize": {{"instructions", isText, false, ""}}}

// maxInstructions is how many characters the instructions of a compaction on demand may have.
const maxInstructions = 16_384

// The codes of refusals.
const (
	codeAmbiguous   = "compaction_block_ambiguous"
	codeMisplaced   = "compaction_block_misplaced"
	codeMismatch    = "compaction_content_mismatch"
	codeIncomplete  = "compaction_incomplete_turn"
	codeNothing     = "compaction_nothing_to_summarize"
	codeSignature   = "compaction_signature_invalid"
	codeUnavailable = "compaction_unavailable"
)

// demand checks the shape of the member "compaction".
func (s shaper) demand(n *node) *apiError {
	if !s.betas.has(betaDemand) {
		return invalid("compaction: the `compaction` parameter requires anthropic-beta: %s", betaDemand)
	}
	if err := s.tagged(compactionKind, n, demandShapes); err != nil {
		return err
	}
	if utf8.RuneCountInString(n.str("instructions")) > maxInstructions {
		return invalid("compaction.summarize.instructions: String should have at most %d characters", maxInstructions)
	}
	return nil
}

// summarizes reports whether the request asks for a summary in place of an answer. A count ignores that.
func (q *request) summarizes() bool { return !q.count && q.body.get(compactionKind) != nil }

// checkDemand refuses what does not go with a compaction on demand.
func (q *request) checkDemand() *apiError {
	if !q.summarizes() {
		return nil
	}
	if !q.model.OnDemand {
		return invalid("compaction: %s does not support compaction", q.model.ID)
	}
	choice := q.body.get("tool_choice").str("type")
	for _, no := range []struct {
		it   bool
		name string
	}{
		{q.body.get("context_management") != nil, "`context_management`"},
		{q.body.get("stop_sequences") != nil, "`stop_sequences`"},
		{q.body.get("output_config").get("format") != nil, "`output_config.format`"},
		{choice == "any" || choice == "tool", "`tool_choice` any or tool"},
	} {
		if no.it {
			return invalid("compaction: cannot be combined with %s", no.name)
		}
	}
	return nil
}

// checkCompactions checks the blocks of earlier compactions, and that there is something to compact.
func (q *request) checkCompactions() *apiError {
	signed, filled, other := (*block)(nil), 0, 0
	for _, t := range q.turns {
		for i := range t.blocks {
			b := &t.blocks[i]
			if b.kind != compactionKind {
				other++
				continue
			}
			if err := q.checkCompaction(b); err != nil {
				return err
			}
			if b.get("content") != nil {
				filled++
			}
			if b.get("signature") != nil {
				signed = b
			}
		}
	}
	if q.summarizes() && other == 0 {
		return coded(codeNothing, "messages: there is nothing to summarize; send at least one `user` or `assistant` message")
	}
	return q.checkSigned(signed, filled)
}

// checkCompaction checks one block: its fields, and what a request that carries it must say.
func (q *request) checkCompaction(b *block) *apiError {
	path, signed := b.path+"."+compactionKind, b.get("signature") != nil
	content := b.get("content")
	switch {
	case content != nil && content.text == "":
		return invalid("%s.content: String should have at least 1 character", path)
	case signed && !q.betas.has(betaDemand):
		return invalid("%s: `signature` requires anthropic-beta: %s", path, betaDemand)
	case signed:
		for _, name := range b.names {
			if !slices.Contains([]string{"type", "content", "signature", "cache_control"}, name) {
				return invalid("%s.%s: Extra inputs are not permitted", path, name)
			}
		}
	case content != nil && !q.betas.has(betaCompact):
		return invalid("%s: a `compaction` block with `content` requires its `signature`", b.path)
	case q.betas.has(betaCompact) && q.threshold() == nil:
		return invalid("%s: `compaction` blocks require a `%s` strategy in `context_management.edits`.", b.path, compactEdit)
	}
	return nil
}

// checkSigned checks where a signed block stands and what stands beside it.
func (q *request) checkSigned(signed *block, filled int) *apiError {
	remaining := q.body.get("output_config").get("task_budget").get("remaining") != nil
	switch {
	case remaining && (signed != nil || q.summarizes()):
		return invalid("output_config.task_budget.remaining: cannot be combined with compaction")
	case signed == nil:
		return nil
	case filled > 1:
		return coded(codeAmbiguous, "messages: more than one `compaction` block with content; send only the one that was returned last")
	case signed.path != "messages.0.content.0":
		return coded(codeMisplaced, "%s: `compaction` block must be sent first, in place of the messages it summarizes; remove those messages", signed.path)
	case q.threshold() != nil:
		return invalid("context_management: `%s` cannot run on a request that carries a signed `compaction` block", compactEdit)
	}
	return nil
}

// checkFinished refuses to summarize a turn that is under way.
func (q *request) checkFinished() *apiError {
	if !q.summarizes() {
		return nil
	}
	last := &q.turns[len(q.turns)-1]
	if last.role != "assistant" {
		return nil
	}
	calls := last.ids("tool_use", "id")
	for _, call := range q.waits() {
		calls = append(calls, call.str("id"))
	}
	if len(calls) == 0 {
		return nil
	}
	return coded(codeIncomplete, "%s: the last `assistant` turn is not finished (%s has no result); send its results, then compact", last.path, calls[0])
}

// signedFirst returns the signed block that the request begins with, nil when there is none.
func (q *request) signedFirst() *block {
	if len(q.turns) == 0 || len(q.turns[0].blocks) == 0 {
		return nil
	}
	if b := &q.turns[0].blocks[0]; b.kind == compactionKind && b.get("signature") != nil {
		return b
	}
	return nil
}

// cut takes out of the request what the server ignores: everything before the newest block of a compaction at a
// threshold, and blocks of compactions that failed. The rules were checked on all that was sent.
func (q *request) cut() {
	for i := range q.turns {
		t := &q.turns[i]
		t.blocks = slices.DeleteFunc(t.blocks, func(b block) bool { return b.kind == compactionKind && b.get("content") == nil })
	}
	for i := len(q.turns) - 1; i >= 0; i-- {
		blocks := q.turns[i].blocks
		for k := len(blocks) - 1; k >= 0; k-- {
			if blocks[k].kind == compactionKind {
				q.turns = q.turns[i:]
				q.turns[0].blocks = blocks[k:]
				return
			}
		}
	}
}
