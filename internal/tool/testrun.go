package tool

import "strings"

// isTest reports whether a command runs tests.
func isTest(words []string) bool {
	name, args := baseName(words[0]), words[1:]
	switch name {
	case "pytest", "py.test", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "gotestsum", "tox", "nox", "bats", "ava", "tap", "karma", "cypress", "playwright":
		return true
	case "make", "meson", "ninja":
		return runsTests(args) || hasWord("check", lastOr(args))
	case "go", "cargo", "mix", "npm", "pnpm", "yarn", "bun", "deno", "mvn", "gradle", "gradlew", "mvnw",
		"dotnet", "swift", "bazel", "mise",
		"just", "task", "flutter", "dart", "zig", "rake", "sbt", "lein", "stack", "cabal", "rebar3", "composer", "rails", "poe", "hatch", "nx", "turbo", "moon", "elixir":
		return runsTests(args)
	case "npx", "bunx", "pnpx", "uvx":
		return restIsTest(args)
	case "uv", "poetry", "pipenv", "pdm", "bundle", "docker", "xvfb-run", "rye":
		return afterRun(args)
	case "python", "python3", "node":
		return interpreterTests(args)
	}
	return false
}

// runsTests looks for "test" among the first words of a build tool's arguments: "go test", "npm run
// test:unit".
func runsTests(args []string) bool {
	words := 0
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		if a == "nextest" || isTestTarget(a) {
			return true
		}
		if words++; words > 2 {
			return false
		}
	}
	return false
}

func isTestTarget(a string) bool {
	switch {
	case a == "test", a == "tests", a == "t", a == "verify", a == "ctest":
		return true
	case strings.HasPrefix(a, "test:"), strings.HasPrefix(a, "test-"), strings.HasPrefix(a, "test_"),
		strings.HasPrefix(a, ":test"):
		return true
	}
	return strings.HasSuffix(a, ":test") || strings.HasSuffix(a, "-test")
}

// restIsTest judges the command behind a launcher.
func restIsTest(args []string) bool {
	args = operandsFrom(args)
	return len(args) > 0 && isTest(args)
}

// afterRun judges the command behind "run" or "exec" of an environment manager.
func afterRun(args []string) bool {
	for i, a := range args {
		if a == "run" || a == "exec" {
			return restIsTest(args[i+1:])
		}
	}
	return false
}

// interpreterTests knows python -m pytest, python manage.py test and node --test.
func interpreterTests(args []string) bool {
	for i, a := range args {
		switch {
		case a == "--test":
			return true
		case a == "-m" && i+1 < len(args):
			return args[i+1] == "unittest" || args[i+1] == "pytest" || args[i+1] == "nose2"
		case a == "-c":
			return false
		case strings.HasSuffix(a, "manage.py") && i+1 < len(args):
			return args[i+1] == "test"
		}
	}
	return false
}

func lastOr(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[len(args)-1]
}
