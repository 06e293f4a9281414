package openai

import (
	"net/http"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// Chat is the dialect of the Chat Completions API.
type Chat struct{}

var _ dialect.Dialect = Chat{}

// chatAbout is asked for several times by every request.
var chatAbout = dialect.About{
	Format: wire.OpenAIChat, Provider: token.OpenAI, Metered: []string{version + "/chat/completions"},
	OrganizationHeader: "Openai-Organization", RequestHeader: "X-Request-Id",
}

// About implements dialect.API.
func (Chat) About() dialect.About { return chatAbout }

// Door implements dialect.API. What neither of OpenAI's APIs manages is Chat's.
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

// Parse implements dialect.Requests.
func (Chat) Parse(body []byte) (*wire.Document, error) { return wire.ParseAs(wire.OpenAIChat, body) }

// maxSession is the longest session id that is taken for one, in bytes.
const maxSession = 256

// Session implements dialect.Requests. Many clients have one cache key for each conversation. Of those that give all
// of theirs the same, the messages tell whose a request is.
func (Chat) Session(r *wire.Document) string {
	at := r.Member("prompt_cache_key")
	if at.IsZero() || r.Source[at.Start] != '"' || at.Len() > maxSession {
		return ""
	}
	return jsonspan.Unquote(at.Of(r.Source))
}

var chatIdentifier = dialect.Identifier{
	API:     string(wire.OpenAIChat) + "\n",
	Ignored: map[string]bool{"cache_control": true}, Nested: map[string]bool{"content": true},
}

// Identity implements dialect.Requests.
func (Chat) Identity(block []byte) decant.Hash { return chatIdentifier.Identity(block) }

// Edits implements dialect.Requests. OpenRouter's transforms leave out the middle of a prompt that is too large.
func (Chat) Edits(r *wire.Document) dialect.Edits {
	if at := r.Member("transforms"); at.Len() > len("[]") && r.Source[at.Start] == '[' {
		return dialect.Clearing
	}
	return dialect.NoEdits
}

// Fixed implements dialect.Requests. The system prompt is the list of the messages that it stands in.
func (Chat) Fixed(r *wire.Document) (system, tools []byte) {
	if at := r.Member("tools"); !at.IsZero() {
		tools = at.Of(r.Source)
	}
	list := r.Member("messages")
	sc := jsonspan.Scan(r.Source, list.Start)
	for sc.Open(); sc.Next(); {
		m := sc.Skip().Of(r.Source)
		if !configures(m) {
			break
		}
		if system == nil {
			system = []byte{'['}
		} else {
			system = append(system, ',')
		}
		system = append(system, m...)
	}
	if system != nil {
		system = append(system, ']')
	}
	return system, tools
}

// configures reports whether a message is the system's.
func configures(m []byte) bool {
	role := jsonspan.MemberText(m, "role")
	return role == "system" || role == "developer"
}
