package legal

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/go-json-experiment/json"
)

// item holds what the rules need to know about an opaque block.
type item struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Answer string `json:"tool_use_id"`
}

// itemOf reads an opaque block, whose content is its whole source. A block that cannot be read has no type.
func itemOf(b *decant.Block) (it item) {
	if b.Kind != decant.KindOpaque || b.Content == nil {
		return it
	}
	text := b.Text()
	if !strings.HasPrefix(text, "{") {
		return it
	}
	if err := json.Unmarshal([]byte(text), &it); err != nil {
		return item{} // an API may add anything, which is passed on unchanged
	}
	return it
}

// calls reports whether the block is a call that the server answers itself.
func (it item) calls() bool { return it.Type == "server_tool_use" || it.Type == "mcp_tool_use" }

// answers reports whether the block is the result of a call that the server answers itself.
func (it item) answers() bool {
	return it.Answer != "" && strings.HasSuffix(it.Type, "_tool_result")
}

// serverTools checks that the server's own calls in a turn have their results in the same turn. The
// last turn may lack them, because the server may have interrupted it.
func (c *checker) serverTools(turns []turn, i int) {
	if i+1 == len(turns) {
		return
	}
	for _, p := range c.pending(&turns[i]) {
		c.report(p, ServerResultMissing, "call %s of the server has no result", itemOf(c.block(p)).ID)
	}
}

// pending returns the server's calls in a turn that have no result in it.
func (c *checker) pending(t *turn) (out []place) {
	byID := map[string]place{}
	for _, p := range c.of(t, decant.KindOpaque) {
		it := itemOf(c.block(p))
		switch {
		case it.calls():
			out = append(out, p)
			byID[it.ID] = p
		case it.answers():
			call, ok := byID[it.Answer]
			out = slices.DeleteFunc(out, func(p place) bool { return ok && p == call })
		}
	}
	return out
}

// paused reports whether the server interrupted the turn in its own tools.
func (c *checker) paused(t *turn) bool {
	return len(c.pending(t)) > 0 || c.endsWithServerResult(t)
}

func (c *checker) endsWithServerResult(t *turn) bool {
	if len(t.blocks) == 0 {
		return false
	}
	return itemOf(c.block(t.blocks[len(t.blocks)-1])).answers()
}

// systemPlace checks where a system message stands among the messages.
func (c *checker) systemPlace(turns []turn, i int) {
	at := place{turns[i].start, whole}
	if i == 0 {
		c.report(at, SystemPlace, "a system message may not be the first")
		return
	}
	before := &turns[i-1]
	if before.role == decant.RoleAssistant && !c.endsWithServerResult(before) {
		c.report(at, SystemPlace, "a system message must follow a message of the user")
	}
	if i+1 < len(turns) && turns[i+1].role != decant.RoleAssistant {
		c.report(at, SystemPlace, "a system message must be the last or be followed by the assistant")
	}
}
