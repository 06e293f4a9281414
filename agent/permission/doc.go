// Package permission decides which calls of tools need nobody's leave.
//
// A Rule names calls:
//
//	read                       each call of the tool
//	mcp__github__*             each call of the tools whose names begin so
//	bash(git diff:*)           a command that begins with these words
//	bash(npm test)             this command and no other
//	edit(src/**)               a file below src, of the project
//	fetch(domain:example.com)  pages of this host; domain:*.example.com: of the hosts below it
//
// A rule of edit is also about the tool write, one of read also about grep and glob. Paths are those of the project, in full: **/.env is
// a file in any folder, .env the one at the top. Before a path is compared it is cleaned, and its symbolic links are followed. Such rules are about
// these tools, not about what a command of bash does with files. Files that git, editors and agents run or obey, such as .claude and
// AGENTS.md, are always asked about before they change: no rule allows it.
//
// A Guard holds rules that deny, ask and allow. What is denied is denied, whatever else is said of it; then comes what asks, then
// what is allowed. Guard.Permit is made for agent.Options.Permit.
//
// # Lines of a shell
//
// A line is parsed, and rules are held against each simple command in it, also in substitutions. Rules that name commands allow a line
// only if each of its commands is allowed and it holds nothing else that can act: no assignment, no redirection but to /dev/null and
// between 1 and 2, no function, no loop, no process substitution, no expansion but $x, ${x} and $(...). The words that a rule names must
// stand there as they are. What cannot be parsed is never allowed.
//
// What follows the words of a rule with :* may be anything, but for options by which the command runs another program or writes a file:
// bash(git diff:*) does not allow git diff --output=x, nor a word that may become such an option, such as $x. There is no such rule for
// what runs or evaluates its words, such as env, xargs, awk or python3: name the whole command, or the script. It is assumed that git
// runs nothing that a repository names; the tool bash sees to that.
//
// A rule that denies a command also finds it behind sudo, env, xargs and the like, in sh -c and under a full path. A shell has more ways
// to write a command than a rule can know, so such a rule saves from mistakes; the walls around a hostile command are those of the tool.
package permission
