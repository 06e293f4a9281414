// Decant keeps every message of an agent and sends the model only what it still needs.
//
// The program runs a gateway in front of the Messages API, and works on stored conversations and on the
// session files of agents. See "decant --help".
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/internal/secret"
)

// commands is the command line; each field's type is in the file named after it.
type commands struct {
	Demo       demoCmd       `cmd:"" help:"Show what Decant does on a real session. Takes seconds; needs no network and no key."`
	Inspect    inspectCmd    `cmd:"" help:"Show what a session holds and where its tokens went."`
	Compact    compactCmd    `cmd:"" help:"Make a conversation smaller, in a form the API accepts, and show what survived."`
	Verify     verifyCmd     `cmd:"" help:"Show which facts of one conversation are still in another."`
	Show       showCmd       `cmd:"" help:"Print a message, an original, a checkpoint, or an overview of a conversation."`
	Sessions   sessionsCmd   `cmd:"" help:"List the stored conversations."`
	Why        whyCmd        `cmd:"" help:"Print what an answer of an agent rests on in what its model was sent, and what of it was not."`
	Diff       diffCmd       `cmd:"" help:"Print how what the model sees differs from what was said."`
	Expand     expandCmd     `cmd:"" help:"Print the original behind a stub or a checkpoint."`
	Plan       planCmd       `cmd:"" help:"Show what a pour would leave out now, what it would cost and save; --apply does it."`
	Undo       undoCmd       `cmd:"" help:"Undo the newest pour, and put the conversation on hold until you release it."`
	Pour       pourCmd       `cmd:"" help:"Pour a conversation now: what plan shows, with a record about what you name."`
	Pause      pauseCmd      `cmd:"" help:"Put a conversation on hold: nothing more is left out until you release it."`
	Release    releaseCmd    `cmd:"" help:"End the hold that an undo or a pause has put on a conversation."`
	Pin        pinCmd        `cmd:"" help:"Protect a conversation from gc, or keep a message in what the model sees."`
	Replay     replayCmd     `cmd:"" help:"Play recorded sessions through several policies and compare tokens, dollars and what was missed."`
	Report     reportCmd     `cmd:"" help:"Sum up what was kept, left out, spent and saved, by day, model and project."`
	Search     searchCmd     `cmd:"" help:"Search the text of all stored conversations."`
	Export     exportCmd     `cmd:"" help:"Write a conversation as a request of any API, so that you can leave at any time."`
	GC         gcCmd         `cmd:"" name:"gc" help:"Delete old conversations."`
	Forget     forgetCmd     `cmd:"" help:"Delete a conversation, or everything of a tenant, without a trace in the database."`
	Memory     memoryCmd     `cmd:"" help:"List, show, forget, restore and export what is remembered beyond a conversation."`
	DB         dbCmd         `cmd:"" name:"db" help:"Check the database, or back it up."`
	Encrypt    encryptCmd    `cmd:"" help:"Encrypt the database, change its key, or decrypt it."`
	Serve      serveCmd      `cmd:"" help:"Run a gateway in front of the Messages API."`
	Key        keyCmd        `cmd:"" help:"Make, list and revoke the keys that admit tenants to a gateway."`
	Audit      auditCmd      `cmd:"" help:"List the commands that people have used to change the database."`
	Chat       chatCmd       `cmd:"" help:"Talk with an agent that never forgets, or have it answer once: decant chat -p TEXT"`
	Triage     triageCmd     `cmd:"" help:"Look at the errors of your programs, and have an agent find out why they happen."`
	Notebook   notebookCmd   `cmd:"" help:"Keep what is learned in a repository: observations, rules, tasks, decisions and a monthly report, as records and as files."`
	Run        runCmd        `cmd:"" help:"Run an agent behind a gateway of its own: decant run -- claude"`
	MCP        mcpCmd        `cmd:"" name:"mcp" help:"Serve recall, originals and rules to an agent, over MCP on standard input and output."`
	Doctor     doctorCmd     `cmd:"" help:"Diagnose the agent, gateway, store and API setup."`
	Sandbox    sandboxCmd    `cmd:"" help:"Run a strict local stand-in for the Messages API."`
	Models     modelsCmd     `cmd:"" help:"List the models that Decant knows, with windows, limits and prices."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Completion completionCmd `cmd:"" help:"Print a completion script for a shell."`
}

func main() {
	tools.MainIfConfined()
	os.Exit(run(os.Args[1:], standard()))
}

// run runs one command line and returns its exit code.
func run(args []string, s *streams) (code int) {
	defer s.flush()
	var c commands
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("decant"),
		kong.Description("Context management for LLM agents: keep everything, send only what is needed."),
		kong.UsageOnError(),
		kong.Writers(s.out, s.err),
		kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(s.err, "decant:", err)
		return exitOther
	}
	ctx, err := parser.Parse(spelled(args))
	if exited >= 0 {
		return exited
	}
	if err != nil {
		text := strings.ReplaceAll(secret.Mask(err.Error()), "expected a valid 64 bit int but got", "want a whole number, not")
		fmt.Fprintf(s.err, "decant: %s\nTry \"decant --help\".\n", text)
		return exitUsage
	}
	if err := ctx.Run(s, parser.Model); err != nil {
		if status := exitStatus(0); errors.As(err, &status) {
			return int(status)
		}
		s.warn(err)
		return exitCode(err)
	}
	return exitDone
}

// spelled returns a command line as the parser wants it. It also accepts what people are used to from other
// programs.
func spelled(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	case args[0] == "--version":
		return []string{"version"}
	case args[0] == "run": // the rest may be another program's
		return args
	case len(args) > 1 && args[0] == "chat" && args[1] == "serve":
		args = append([]string{"chat", "--serve"}, args[2:]...)
	}
	return joinNegative(args)
}
