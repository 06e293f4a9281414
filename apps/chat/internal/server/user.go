package chatserver

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/agent"
)

// shownWith returns what the user has shown beside a text, as it stands in the session, so that whoever hears of it draws what is drawn of the
// session later. What a message shows goes with the last of its texts.
func (rm *room) shownWith(e *agent.Event) []attachment {
	all := rm.session.Messages()
	if e.Index < 0 || e.Index >= len(all) {
		return nil // the session was taken back meanwhile
	}
	var m struct {
		Blocks []block `json:"content"`
	}
	if json.Unmarshal(all[e.Index], &m, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil || len(m.Blocks) == 0 {
		return nil
	}
	if last := m.Blocks[len(m.Blocks)-1]; last.Type != "text" || last.Text != e.Text {
		return nil
	}
	var one message
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Type == "image" || b.Type == "document" {
			one.show(b, nil)
		}
	}
	return one.Attachments
}
