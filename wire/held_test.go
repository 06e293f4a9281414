package wire_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// Images of a result go into a message of the user byte for byte, the cache marker that stood on one
// goes to the text; what a result makes known is counted.
func TestHeldParts(t *testing.T) {
	const image = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	marked := strings.TrimSuffix(image, "}") + `,"cache_control":{"type":"ephemeral"}}`
	body := `{"model":"m","messages":[{"role":"user","content":"go"},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Shot","input":{}},{"type":"tool_use","id":"b","name":"ToolSearch","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"two"},` + image + `,` + marked + `]},` +
		`{"type":"tool_result","tool_use_id":"b","content":[{"type":"tool_reference","tool_name":"X"},{"type":"tool_reference","tool_name":"Y"}]}]}]}`
	d, err := wire.ParseAs(wire.Anthropic, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	results := d.Conversation.Messages[2].Blocks
	if results[0].Loads != 0 || results[1].Loads != 2 {
		t.Errorf("the results make %d and %d tools known, want 0 and 2", results[0].Loads, results[1].Loads)
	}
	view, err := decant.View(d.Conversation, []decant.Decision{{ID: "1", Kind: decant.Cover, Checkpoint: &decant.Checkpoint{
		Number: 1, From: 1, To: 3, Summary: "a record", Carried: []decant.Ref{results[0].Ref, results[1].Ref},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := view.Messages[0].Blocks[1].Media.Bytes; n == 0 {
		t.Error("the image has no size")
	}
	out, err := d.Render(view)
	if err != nil {
		t.Fatal(err)
	}
	want := `"messages":[{"role":"user","content":[{"type":"text","text":"a record","cache_control":{"type":"ephemeral"}},` + image + `,` + image + `]}]`
	if !strings.Contains(string(out), want) {
		t.Errorf("%s\nwant %s", out, want)
	}
}
