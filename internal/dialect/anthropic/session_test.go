package anthropic

import "testing"

func TestSession(t *testing.T) {
	for _, c := range []struct{ name, members, want string }{
		{"JSON", `"metadata":{"user_id":"{\"device_id\":\"d\",\"account_uuid\":\"\",\"session_id\":\"uuid\"}"}`, "uuid"},
		{"OldForm", `"metadata":{"user_id":"user_abc_account__session_uuid"}`, "uuid"},
		{"UserIsNoSession", `"metadata":{"user_id":"alice"}`, ""},
		{"Nothing", `"model":"x"`, ""},
		{"NoObject", `"metadata":"user_a_session_b"`, ""},
		{"NoUTF8", "\"metadata\":{\"user_id\":\"user_a_session_b\x9b\"}", "b\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Dialect{}.Parse([]byte(`{` + c.members + `,"messages":[{"role":"user","content":"Hello."}]}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := (Dialect{}).Session(doc); got != c.want {
				t.Errorf("session %q, want %q", got, c.want)
			}
		})
	}
}
