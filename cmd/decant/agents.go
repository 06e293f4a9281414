package main

import (
	"fmt"
	"slices"
	"strings"
)

// knownAgents use the gateway through the variables that run sets.
var knownAgents = []string{"claude", "codex", "opencode"}

// otherAgents use another provider's API, so no variable can point them to the gateway.
var otherAgents = map[string]string{
	"copilot": "GitHub's API",
	"gemini":  "Google's API",
	"grok":    "xAI's API",
	"kimi":    "Moonshot's API",
}

// launchers run other programs, which may or may not use an SDK that reads these variables.
var launchers = []string{
	"bash", "bun", "bunx", "cargo", "deno", "docker", "dotnet", "env", "fish", "go", "java", "make", "node", "npm", "npx", "php", "pnpm",
	"ruby", "sh", "sudo", "time", "timeout", "tsx", "uv", "uvx", "yarn", "zsh",
}

// doubt returns a warning that a command will not use its gateway, or may not. It is empty when there is
// nothing to warn about.
func doubt(command string) string {
	name := programOf(command)
	if api, ok := otherAgents[name]; ok {
		return fmt.Sprintf("%s uses %s, which the gateway does not manage: it runs as without Decant", name, api)
	}
	if slices.Contains(knownAgents, name) || slices.Contains(launchers, name) || strings.HasPrefix(name, "python") {
		return ""
	}
	return fmt.Sprintf("%s is not a command that Decant knows: the gateway sees it only if it reads ANTHROPIC_BASE_URL or OPENAI_BASE_URL (decant sessions shows what came)", name)
}
