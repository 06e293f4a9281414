package openai

import (
	"bytes"
	"net/http"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

var _ dialect.Follower = Responses{}

// previous is the member that names the answer which a request goes on from.
const previous = "previous_response_id"

// Follows implements dialect.Follower.
func (Responses) Follows(body []byte) (id string, held bool) {
	if !bytes.Contains(body, []byte(previous)) || jsonspan.Validate(body) != nil {
		return "", true
	}
	return jsonspan.MemberText(body, previous), true
}

// Whole implements dialect.Follower. Instructions and tools are each request's own; items are handed down.
func (Responses) Whole(body, before []byte) []byte {
	if before == nil {
		return body
	}
	out := make([]byte, 1, len(body)+len(before))
	out[0] = '{'
	var given []byte
	sc := jsonspan.Scan(body, 0)
	for sc.Open(); sc.Next(); {
		switch name := string(sc.Name()); name {
		case "input":
			given = sc.Skip().Of(body)
		case previous:
			sc.Skip()
		default:
			out = append(append(jsonspan.AppendQuote(out, name), ':'), sc.Skip().Of(body)...)
			out = append(out, ',')
		}
	}
	w := itemWriter{out: append(out, `"input":[`...)}
	w.history(before)
	switch {
	case len(given) == 0:
	case given[0] == '"':
		w.item(whole(given, decant.RoleUser))
	case given[0] == '[' && len(bytes.TrimSpace(given[1:len(given)-1])) > 0:
		w.item(given[1 : len(given)-1])
	}
	return append(w.out, "]}"...)
}

// history writes the items of a request. Where the provider keeps none, it knows no reasoning by its id, and an item behind
// reasoning that is not there must not have its own.
func (w *itemWriter) history(body []byte) {
	kept := string(jsonspan.Member(body, 0, "store").Of(body)) != "false"
	lost := false // the items up to the next one of the user come without the reasoning before them
	sc := jsonspan.Scan(body, jsonspan.Member(body, 0, "input").Start)
	for sc.Open(); sc.Next(); {
		item := sc.Skip().Of(body)
		switch {
		case kept || len(item) == 0 || item[0] != '{':
		case jsonspan.MemberText(item, "type") == "reasoning" && jsonspan.MemberText(item, "encrypted_content") == "":
			lost = true
			continue
		case jsonspan.MemberText(item, "id") == "":
			lost = false
		case lost:
			item = without(item, "id")
		}
		w.item(item)
	}
}

// without returns an object without a member.
func without(object []byte, name string) []byte {
	out := append(make([]byte, 0, len(object)), '{')
	sc := jsonspan.Scan(object, 0)
	for sc.Open(); sc.Next(); {
		at := string(sc.Name())
		value := sc.Skip()
		if at == name {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonspan.AppendQuote(out, at), ':'), value.Of(object)...)
	}
	return append(out, '}')
}

// Unknown implements dialect.Follower.
func (Responses) Unknown(id string) (status int, body []byte) {
	body = jsonspan.AppendQuote([]byte(`{"error":{"message":`), "Previous response with id '"+id+"' not found.")
	return http.StatusBadRequest, append(body,
		`,"type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}}`...)
}
