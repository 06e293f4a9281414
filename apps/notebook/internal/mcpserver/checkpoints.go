package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

const aboutCheckpoints = "List the checkpoints: places where older messages of a conversation were replaced by a record. Each has a handle (c:3) with which expand gives the original messages back. " +
	"Without a conversation, those of the conversations that changed last."

// Limits of conversations and checkpoints.
const (
	fewCheckpoints  = 20
	mostCheckpoints = 100
	mostLookedAt    = 50
)

type checkpointsInput struct {
	Conversation string `json:"conversation,omitempty" jsonschema:"only this conversation: its id or the client's session id, or the beginning of either"`
	Offset       int    `json:"offset,omitempty" jsonschema:"how many checkpoints to skip, to get the next ones"`
	Limit        int    `json:"limit,omitempty" jsonschema:"how many at most, up to 100; 20 without it"`
}

// checkpoints is the tool of that name.
func (t *tools) checkpoints(ctx context.Context, in checkpointsInput) ([]string, error) {
	s, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.chosen(ctx, in.Conversation)
	if err != nil {
		return nil, err
	}
	var lines []string
	for i := range list {
		if list[i].Checkpoints == 0 {
			continue
		}
		state, err := s.Load(ctx, list[i].Key, store.Newest)
		if err != nil {
			return nil, err
		}
		cps := state.Checkpoints()
		for k := range cps {
			cp := cps[len(cps)-1-k]
			lines = append(lines, fmt.Sprintf("  c:%d  conversation %s  messages m%d-m%d (%d)  %d -> %d tokens  %s", cp.Number, list[i].ID, cp.From, cp.To, cp.Messages, cp.Original, cp.Compressed, about(cp)))
		}
	}
	if len(lines) == 0 {
		return []string{"There are no checkpoints: nothing was compacted in " + cmp.Or(in.Conversation, "the conversations that changed last") + "."}, nil
	}
	offset, limit := min(max(in.Offset, 0), len(lines)), min(cmp.Or(max(in.Limit, 0), fewCheckpoints), mostCheckpoints)
	end := min(len(lines), offset+limit)
	out := "Checkpoints, the newest of each conversation first:\n" + strings.Join(lines[offset:end], "\n") + "\nThe original messages: expand with handle and conversation."
	if end < len(lines) {
		out += fmt.Sprintf(" %d more: checkpoints again with offset %d.", len(lines)-end, end)
	}
	return []string{out}, nil
}

// chosen returns the conversation with a name, or without one those that changed last.
func (s *served) chosen(ctx context.Context, name string) ([]store.Summary, error) {
	if name == "" {
		return s.Conversations(ctx, store.Filter{Tenant: s.tenant, Limit: mostLookedAt})
	}
	c, err := s.conversation(ctx, name)
	if err != nil {
		return nil, err
	}
	return []store.Summary{*c}, nil
}

// mostAbout is how many characters of a record are shown.
const mostAbout = 120

// about returns the beginning of a record, after its heading.
func about(cp *decant.Checkpoint) string {
	for line := range strings.Lines(masked(cp.Summary, 0, len(cp.Summary))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "#") {
			r := []rune(line)
			return string(r[:min(len(r), mostAbout)])
		}
	}
	return ""
}
