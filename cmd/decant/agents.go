package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// knownAgents use the gateway through the variables that run sets.
var knownAgents = []string{"claude", "opencode"}

// otherAgents use another provider's API, so no variable can point them to the gateway.
var otherAgents = map[string]string{
	"codex":   "OpenAI's API",
	"copilot": "GitHub's API",
	"gemini":  "Google's API",
	"grok":    "xAI's API",
	"kimi":    "Moonshot's API",
	"qwen":    "Alibaba's API",
}

// launchers run other programs, which may or may not use an SDK of the Messages API.
var launchers = []string{
	"bash", "bun", "bunx", "cargo", "deno", "docker", "dotnet", "env", "fish", "go", "java", "make", "node", "npm", "npx", "php", "pnpm",
	"ruby", "sh", "sudo", "time", "timeout", "tsx", "uv", "uvx", "yarn", "zsh",
}

// doubt returns a warning that a command will not use its gateway, or may not. It is empty when there is
// nothing to warn about.
func doubt(command string) string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(command)), ".exe")
	if api, ok := otherAgents[name]; ok {
		text := fmt.Sprintf("%s uses %s, which the gateway does not manage: it runs as without Decant", name, api)
		if name == "codex" {
			text += "; what works today is to make its session smaller: decant compact --resume last --from codex"
		}
		return text
	}
	if slices.Contains(knownAgents, name) || slices.Contains(launchers, name) || strings.HasPrefix(name, "python") {
		return ""
	}
	return fmt.Sprintf("%s is not a command that Decant knows: the gateway sees it only if it reads ANTHROPIC_BASE_URL (decant sessions shows what came)", name)
}
