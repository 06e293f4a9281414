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

// A service is how far the server has answered its own calls.
type service struct {
	waiting []place // calls that may still get their result: nothing but results followed them
	missed  []place // calls that can get none, because something else followed
	orphans []place // results that answer no call
}

// served pairs the server's own calls with their results. A turn with calls of the client beside them goes on
// behind the client's results, and with it the server's.
func (c *checker) served(turns []turn) (s service) {
	for i := range turns {
		t := &turns[i]
		if t.role != decant.RoleAssistant {
			if t.role != decant.RoleUser || c.speaks(t) {
				s.missed, s.waiting = append(s.missed, s.waiting...), nil
			}
			continue
		}
		for _, p := range c.of(t, decant.KindOpaque) {
			switch it := itemOf(c.block(p)); {
			case it.calls():
				s.waiting = append(s.waiting, p)
			case it.answers():
				k := slices.IndexFunc(s.waiting, func(p place) bool { return itemOf(c.block(p)).ID == it.Answer })
				if k < 0 {
					s.orphans = append(s.orphans, p)
					continue
				}
				s.waiting = slices.Delete(s.waiting, k, k+1)
			}
		}
	}
	return s
}

// serverTools checks that the server's own calls have their results before anything but results follows, and that its
// results have their calls.
func (c *checker) serverTools(turns []turn) {
	s := c.served(turns)
	for _, p := range s.missed {
		c.report(p, ServerResultMissing, "call %s of the server has no result", itemOf(c.block(p)).ID)
	}
	for _, p := range s.orphans {
		c.report(p, ServerResultOrphan, "result of %s answers no call of the server before it", itemOf(c.block(p)).Answer)
	}
}

// paused reports whether the server interrupted the last of the turns, which is the assistant's, in its own tools.
func (c *checker) paused(turns []turn) bool {
	return len(c.served(turns).waiting) > 0 || c.endsWithServerResult(&turns[len(turns)-1])
}

func (c *checker) endsWithServerResult(t *turn) bool {
	if len(t.blocks) == 0 {
		return false
	}
	return itemOf(c.block(t.blocks[len(t.blocks)-1])).answers()
}

// systemPlace checks the place of a system message.
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
