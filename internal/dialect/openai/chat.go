package openai

import (
	"net/http"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// Chat is the dialect of the Chat Completions API.
type Chat struct{}

// chatAbout is asked for several times by every request.
var chatAbout = dialect.About{
	Format: wire.OpenAIChat, Provider: token.OpenAI, Metered: []string{version + "/chat/completions"},
	OrganizationHeader: "Openai-Organization", RequestHeader: "X-Request-Id",
}

// About implements dialect.API.
func (Chat) About() dialect.About { return chatAbout }

// Door implements dialect.API.
func (Chat) Door(r *http.Request) dialect.Door {
	if api, door := doorOf(r); api == wire.OpenAIChat {
		return door
	}
	return dialect.Door{}
}

// Refuse implements dialect.API.
func (Chat) Refuse(why dialect.Cause, message string) []byte { return refuse(why, message) }

// ReadRefusal implements dialect.Answers.
func (Chat) ReadRefusal(status int, body []byte) dialect.Refusal { return readRefusal(status, body) }
