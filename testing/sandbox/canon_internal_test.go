package sandbox

import "testing"

func TestCanon(t *testing.T) {
	tests := []struct {
		name, a, b string
		same, kept bool // equal as signatures see it, and as the cache does
	}{
		{"KeyOrder", `{"type":"text","text":"a"}`, `{"text":"a","type":"text"}`, true, true},
		{"SpaceAndEscapes", `{"type":"text","text":"a"}`, "{ \"type\":\n\"text\" , \"text\":\"\\u0061\"}", true, true},
		{"Marker", `{"type":"text","text":"a"}`, `{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`, true, true},
		{"Null", `{"type":"text","text":"a"}`, `{"type":"text","text":"a","citations":null}`, true, true},
		{"Default", `{"type":"tool_result","content":"a"}`, `{"type":"tool_result","content":"a","is_error":false}`, true, true},
		{"ErrorCounts", `{"type":"tool_result","content":"a"}`, `{"type":"tool_result","content":"a","is_error":true}`, false, false},
		{"StringOrList", `{"type":"tool_result","content":"a"}`, `{"type":"tool_result","content":[{"type":"text","text":"a"}]}`, true, true},
		{"MarkerWithinResult", `{"content":[{"type":"text","text":"a"}]}`, `{"content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}`, true, true},
		{"NoContent", `{"type":"tool_result"}`, `{"type":"tool_result","content":[]}`, true, true},
		{"OtherText", `{"type":"text","text":"a"}`, `{"type":"text","text":"b"}`, false, false},
		{"TwoTexts", `{"content":[{"type":"text","text":"ab"}]}`, `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, false, false},
		{"OrderOfArguments", `{"input":{"a":1,"b":[true,null]}}`, `{"input":{"b":[true,null],"a":1}}`, true, false},
		{"Numbers", `{"input":{"a":1.0}}`, `{"input":{"a":1}}`, true, true},
		{"HugeNumbers", `{"input":{"a":1e999}}`, `{"input":{"a":1e998}}`, false, false},
		{"NullArgument", `{"input":{"a":null}}`, `{"input":{}}`, false, false},
		{"MarkerAsArgument", `{"input":{"cache_control":1}}`, `{"input":{}}`, false, false},
		{"OrderOfElements", `{"input":{"a":[1,2]}}`, `{"input":{"a":[2,1]}}`, false, false},
		{"DocumentSource", `{"content":{"type":"error"}}`, `{"content":{"type":"other"}}`, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, errA := parse([]byte(tt.a))
			b, errB := parse([]byte(tt.b))
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			for keep, want := range map[bool]bool{false: tt.same, true: tt.kept} {
				c := canon{keepOrder: keep}
				if x, y := string(c.block(nil, a)), string(c.block(nil, b)); (x == y) != want {
					t.Errorf("keepOrder %v:\n%s\n%s\nwant equal: %v", keep, x, y, want)
				}
			}
		})
	}
}
