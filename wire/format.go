package wire

// A Format names one way to write a conversation down.
type Format string

// The formats: request bodies, session files that their agents resume from, and exports and logs, which
// are read and not written.
const (
	Anthropic       Format = "anthropic"        // Messages API, request body
	OpenAIChat      Format = "openai-chat"      // Chat Completions API, request body or request log
	OpenAIResponses Format = "openai-responses" // Responses API, request body
	Messages        Format = "messages"         // bare list of messages, of the Messages or the Chat Completions API

	ClaudeCode Format = "claude-code" // Claude Code session, JSON lines
	Codex      Format = "codex"       // Codex CLI rollout, JSON lines
	Pi         Format = "pi"          // pi session, JSON lines

	Copilot  Format = "copilot-cli" // GitHub Copilot CLI, events as JSON lines
	Gemini   Format = "gemini"      // Gemini CLI chat, an object or JSON lines
	Opencode Format = "opencode"    // what opencode export writes
)

// Formats returns all formats, in the order in which they are documented.
func Formats() []Format {
	return []Format{
		Anthropic, OpenAIChat, OpenAIResponses, Messages, ClaudeCode, Codex, Pi,
		Copilot, Gemini, Opencode,
	}
}

// Session reports whether f records a session, which may end anywhere, where the others are requests.
func (f Format) Session() bool {
	switch f {
	case Anthropic, OpenAIChat, OpenAIResponses, Messages:
		return false
	}
	return true
}

// Writable reports whether a view can be written in format f, see [Document.Render].
func (f Format) Writable() bool {
	return !f.Session() || f == ClaudeCode || f == Codex || f == Pi
}
