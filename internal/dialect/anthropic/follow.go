package anthropic

import (
	"bytes"
	"net/http"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

var _ dialect.Follower = Dialect{}

// Follows implements dialect.Follower: a request that begins a thread, or continues one.
func (Dialect) Follows(body []byte) (id string, held bool) {
	if !bytes.Contains(body, []byte(`"thread"`)) || jsonspan.Validate(body) != nil {
		return "", false
	}
	switch typeOf(body, "thread") {
	case "create":
		return "", true
	case "continue":
		id = jsonspan.MemberText(jsonspan.Member(body, 0, "thread").Of(body), "previous_message_id")
		return id, id != ""
	}
	return "", false
}

// Whole implements dialect.Follower. A thread has the system prompt and the tools that it was created with.
func (Dialect) Whole(body, before []byte) []byte {
	out := append(make([]byte, 0, len(body)+len(before)), '{')
	member := func(name string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonspan.AppendQuote(out, name), ':'), value...)
	}
	missing := map[string]bool{"system": true, "tools": true}
	var given []byte
	sc := jsonspan.Scan(body, 0)
	for sc.Open(); sc.Next(); {
		switch name := string(sc.Name()); name {
		case "thread":
			sc.Skip()
		case "messages":
			given = sc.Skip().Of(body)
		default:
			delete(missing, name)
			member(name, sc.Skip().Of(body))
		}
	}
	for _, name := range []string{"system", "tools"} {
		if at := jsonspan.Member(before, 0, name); missing[name] && !at.IsZero() {
			member(name, at.Of(before))
		}
	}
	said := jsonspan.Member(before, 0, "messages").Of(before)
	if all := joined(said, given); len(all) > 0 {
		member("messages", all)
	}
	return append(out, '}')
}

// joined returns two lists as one.
func joined(a, b []byte) []byte {
	if len(a) == 0 || len(bytes.TrimSpace(a[1:len(a)-1])) == 0 || len(b) == 0 || b[0] != '[' {
		return b
	}
	if rest := b[1 : len(b)-1]; len(bytes.TrimSpace(rest)) > 0 {
		return append(append(append(bytes.Clone(a[:len(a)-1]), ','), rest...), ']')
	}
	return a
}

// Unknown implements dialect.Follower.
func (Dialect) Unknown(id string) (status int, body []byte) {
	body = jsonspan.AppendQuote([]byte(`{"type":"error","error":{"type":"not_found_error","message":`), "thread: no message "+id+" is known")
	return http.StatusNotFound, append(body, `,"details":{"error_code":"thread_not_found"}}}`...)
}
