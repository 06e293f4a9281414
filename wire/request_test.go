package wire_test

import (
	"testing"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

func TestFrameIsTheRequestWithoutItsContent(t *testing.T) {
	tests := []struct {
		name, src string
		format    wire.Format
		want      string
	}{
		{"Nothing", `{"messages":[],"system":"s","tools":[]}`, wire.Anthropic, `{}`},
		{"InOrder", ` { "model" : "m", "messages": [ ], "max_tokens" : 5 ,"system":"s","metadata":{ "user_id" : "u" } , "stream":true } `, wire.Anthropic,
			`{"model":"m","max_tokens":5,"metadata":{ "user_id" : "u" },"stream":true}`},
		{"Twice", `{"model":"a","messages":[],"model":"b"}`, wire.Anthropic, `{"model":"a","model":"b"}`},
		{"EscapedNames", `{"m\u006fdel":"m","s\u0079stem":"s","messages":[],"\"\u00e9":1}`, wire.Anthropic, `{"model":"m","\"é":1}`},
		{"Chat", `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[],"n":1}`, wire.OpenAIChat, `{"model":"m","n":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := wire.ParseAs(tt.format, []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(d.Frame()); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestMemberIsTheLastOfItsName(t *testing.T) {
	src := `{"model":"a","messages":[],"max_tok\u0065ns": 5 ,"model":"b"}`
	d, err := wire.ParseAs(wire.Anthropic, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"model": `"b"`, "messages": `[]`, "max_tokens": `5`} {
		if got := string(d.Member(name).Of(d.Source)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if got := d.Member("system"); got != (jsonspan.Span{}) {
		t.Errorf("a member that is not there stands at %v", got)
	}
}

func TestSessionFilesHaveNoMembers(t *testing.T) {
	d, err := wire.Parse([]byte(`{"type":"session","cwd":"x"}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d.Frame() != nil || !d.Member("type").IsZero() {
		t.Errorf("got frame %s, member %v", d.Frame(), d.Member("type"))
	}
}
