package mcpserver

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lenient takes arguments as models write them: a number in quotes, and null for what is left out.
func lenient(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if p, ok := r.GetParams().(*sdk.CallToolParamsRaw); ok {
			p.Arguments = plain(p.Arguments)
		}
		return next(ctx, method, r)
	}
}

// plain returns arguments with offset and limit as numbers, and without members that are null.
func plain(arguments json.RawMessage) json.RawMessage {
	var in map[string]json.RawMessage
	if json.Unmarshal(arguments, &in) != nil {
		return arguments // the tool says what is wrong
	}
	for name, v := range in {
		if string(v) == "null" {
			delete(in, name)
		}
		if name != "offset" && name != "limit" {
			continue
		}
		var s string
		if json.Unmarshal(v, &s) != nil {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
			in[name] = strconv.AppendInt(nil, int64(n), 10)
		}
	}
	out, err := json.Marshal(in)
	if err != nil {
		return arguments
	}
	return out
}
