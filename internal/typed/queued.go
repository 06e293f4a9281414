package typed

import "strings"

// What a user types while the agent works reaches the model in a frame of the client's: a reminder that says so in its
// first sentence, and after the user's words says what to do with them. Other reminders have the same tags, so the
// sentence decides. Read off Claude Code 2.1.33 and 2.1.332, which may leave the tags away, and off the sources of
// opencode 1.1 and Gemini CLI.
var queuedHeads = [...]string{
	"The user sent a new message while you were working:\n",
	"The user sent the following message:\n",
	"A message arrived in the bound thread while you were working:\n",
	"Messages arrived in the bound thread while you were working:\n",
	"User steering update:\n<user_input>\n",
	"User hints:\n<user_input>\n",
}

// queuedEnds begin what the client says after the user's words.
var queuedEnds = [...]string{
	"\n</user_input>\nInternal instruction: ",
	"\n</user_input>\n\nInternal instruction: ",
	"\n\nIMPORTANT: After completing your current task, ",
	"\n\nThis is how Claude Code surfaces messages the user sends mid-turn",
	"\n\nPlease address this message and continue with your tasks.",
}

// Queued reports whether text is nothing but a message that the user typed while the agent worked, in its
// client's frame.
func Queued(agent, text string) bool {
	text = strings.TrimSpace(text)
	_, rest, ok := cutQueued(text)
	return ok && rest == "" && queues(agent)
}

// queues reports whether an agent program frames what the user types while it works.
func queues(agent string) bool { return agent == ClaudeCode || agent == Opencode || !known(agent) }

// unframed takes the client's frames off messages that the user typed while the agent worked. Only those at the start
// of the text count: behind text of a file or of a command, a frame may be part of it.
func unframed(text string) string {
	var said strings.Builder
	for rest := text; ; {
		words, behind, ok := cutQueued(strings.TrimLeft(rest, " \t\r\n"))
		if !ok {
			said.WriteString(rest)
			return strings.TrimSpace(said.String())
		}
		if said.Len() > 0 {
			said.WriteByte('\n')
		}
		said.WriteString(words)
		rest = behind
	}
}

// cutQueued returns the user's words in the frame that text begins with, and the text behind the frame.
func cutQueued(text string) (words, rest string, ok bool) {
	body, end, tagged := cutReminder(text)
	for _, head := range queuedHeads {
		words, ok := strings.CutPrefix(body, head)
		if !ok {
			continue
		}
		at, said := -1, ""
		for _, e := range queuedEnds {
			if i := strings.Index(words, e); i >= 0 && (at < 0 || i < at) {
				at, said = i, e
			}
		}
		if !tagged { // without its last sentence it may be anything that begins so
			return strings.TrimSpace(words[:max(0, at)]), "", at >= 0 && !strings.Contains(words[at+len(said):], "\n")
		}
		n := strings.Index(words[max(0, at):], end)
		if n < 0 {
			return "", "", false
		}
		n += max(0, at)
		if at < 0 {
			at = n
		}
		return strings.TrimSpace(words[:at]), words[n+len(end):], true
	}
	return "", "", false
}

// cutReminder returns the text behind the opening tag of a reminder, and the tag that closes it. A text that
// does not begin with one is returned as it is.
func cutReminder(text string) (body, end string, ok bool) {
	if body, ok = strings.CutPrefix(text, "<system-reminder>"); ok {
		return strings.TrimSpace(body), "</system-reminder>", true
	}
	if body, ok = strings.CutPrefix(text, `<system-reminder id="`); ok {
		if id, body, ok := strings.Cut(body, `">`); ok {
			return strings.TrimSpace(body), `</system-reminder id="` + id + `">`, true
		}
	}
	return text, "", false
}
