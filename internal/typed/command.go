package typed

import "strings"

// Claude Code writes a slash command as elements behind one another. One whose prompt goes to the model begins with
// command-message, one that the client carries out itself with command-name. The arguments come last, and what the user
// typed there may hold any tag.
const (
	commandName    = "command-name"
	commandMessage = "command-message"
	commandArgs    = "command-args"
)

var commandTags = [...]string{commandName, commandMessage, commandArgs, "command-contents", "skill-format"}

// Prompts reports whether text is a slash command whose prompt, which the client wrote, follows as the next text.
func Prompts(agent, text string) bool {
	return (agent == ClaudeCode || !known(agent)) && strings.HasPrefix(strings.TrimSpace(text), tag(commandMessage)[0])
}

// commands puts slash commands as the user typed them in place of their elements: "/review this branch". A command that
// only steers the client, "/exit", asks for nothing.
func commands(text string) string {
	const begin = "<command-"
	for from := 0; ; {
		i := lineIndex(text[from:], begin)
		if i < 0 {
			return text
		}
		i += from
		from = i + len(begin)
		if said, rest, ok := cutCommand(text[i:]); ok {
			text, from = text[:i]+said+rest, i+len(said)
		}
	}
}

// cutCommand returns the command that text begins with as it was typed, and the text behind it.
func cutCommand(text string) (said, rest string, ok bool) {
	name, args, prompts := "", "", strings.HasPrefix(text, tag(commandMessage)[0])
	for rest = text; ; ok = true {
		of, body, behind, found := cutElement(rest)
		switch {
		case !found:
			if args = strings.TrimSpace(args); args == "" && !prompts {
				return "", rest, ok
			}
			return strings.TrimSpace(name + " " + args), rest, ok
		case of == commandName:
			name = strings.TrimSpace(body)
		case of == commandArgs:
			args = body
		}
		rest = behind
	}
}

// cutElement cuts the element of a command that text begins with.
func cutElement(text string) (name, body, rest string, ok bool) {
	text = strings.TrimLeft(text, " \t\r\n")
	for _, name := range commandTags {
		t := tag(name)
		body, found := strings.CutPrefix(text, t[0])
		if !found {
			continue
		}
		if whole, found := strings.CutSuffix(strings.TrimRight(body, " \t\r\n"), t[1]); found && name == commandArgs {
			return name, whole, "", true
		}
		body, rest, ok = strings.Cut(body, t[1])
		return name, body, rest, ok
	}
	return "", "", text, false
}
