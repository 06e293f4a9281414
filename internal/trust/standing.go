package trust

import (
	"path"
	"strings"
)

// Folders are the folders of a project whose words programs run, or obey, once somebody works there: git, editors and agents.
var Folders = strings.Fields(`.git .decant .claude .vscode .idea .cursor .codex .gemini .opencode .zed .husky .devcontainer`)

// Files are the files of which that holds.
var Files = strings.Fields(`.mcp.json .envrc .gitmodules .gitconfig AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md .cursorrules
	.windsurfrules .clinerules .pre-commit-config.yaml .tool-versions .mise.toml mise.toml .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .bashrc .bash_profile
	.bash_login .profile .zshrc .zshenv .zprofile .vimrc .exrc .nvimrc .dir-locals.el .gdbinit .lldbinit .gitlab-ci.yml`)

// remote are folders whose words other machines run.
var remote = strings.Fields(`.github .circleci .buildkite`)

var obeyed = func() map[string]bool {
	out := map[string]bool{}
	for _, names := range [][]string{Folders, Files, remote} {
		for _, n := range names {
			out[strings.ToLower(n)] = true
		}
	}
	return out
}()

// Obeyed reports whether a path, with slashes, lies in such a folder or names such a file, at the top of a project or below.
// Case does not matter: on some systems it is the same file.
func Obeyed(name string) bool {
	for at := path.Clean(name); at != "." && at != "/" && at != ".."; at = path.Dir(at) {
		if obeyed[strings.ToLower(path.Base(at))] {
			return true
		}
	}
	return false
}
