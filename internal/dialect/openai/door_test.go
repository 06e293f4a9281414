package openai_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/openai"
)

func TestDoor(t *testing.T) {
	const key = "Bearer sk-proj-x"
	for _, c := range []struct {
		path, key string
		known     bool
	}{
		{"/v1/chat/completions", "", true},
		{"/chat/completions/", "", true},
		{"/v1/responses/resp_1", "", true},
		{"/openai/deployments/x/chat/completions", "", true},
		{"/v1/models", key, true},
		{"/v1/models", "", false},
		{"/v1/models", "Bearer sk-ant-x", false},
		{"/v1/messages", key, false},
		{"/v1/responsesX", "Bearer sk-x", false},
		{"/v1/messages/batches", key, false},
		{"/", key, true}, // nobody knows the path, but the key is OpenAI's
		{"/v1/organizations/me", "Bearer sk-svcacct-x", true},
		{"/v1/organizations/me", "Bearer sk-admin-x", true},
		{"/v1/organizations/me", "Bearer sk-x", false},
		{"/v1/organizations/me", "Bearer sk-ant-x", false},
	} {
		r := &http.Request{
			Method: http.MethodPost, URL: &url.URL{Path: c.path}, Header: http.Header{"Authorization": {c.key}},
		}
		if got := (openai.Chat{}).Door(r).Kind != dialect.Unknown; got != c.known {
			t.Errorf("%s with %q is of OpenAI's API: %t, want %t", c.path, c.key, got, c.known)
		}
	}
}

// Clients find a message, a type and a code in every refusal.
func TestRefuse(t *testing.T) {
	const message = "decant: it says \"no\"\n"
	for _, why := range dialect.Causes() {
		var body struct {
			Error struct {
				Message, Type string
				Param, Code   *string
			}
		}
		src := openai.Chat{}.Refuse(why, message)
		if err := json.Unmarshal(src, &body); err != nil || body.Error.Message != message || body.Error.Type == "" {
			t.Errorf("cause %d: %s, %v", why, src, err)
		}
	}
}
