// Decant keeps every message of an agent and sends the model only what it still needs.
//
// The program runs a gateway in front of the Messages API, and works on stored conversations and on the
// session files of agents. See "decant --help".
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/internal/cli"
	"github.com/decantdev/decant/internal/secret"
)

// commands is the command line; each field's type is in the file named after it.
type commands struct {
	Demo       demoCmd       `cmd:"" group:"Begin here" help:"Show what Decant does on a real session. Takes seconds; needs no network and no key."`
	Run        runCmd        `cmd:"" group:"Begin here" help:"Run an agent behind a gateway of its own: decant run -- claude"`
	Doctor     doctorCmd     `cmd:"" group:"Begin here" help:"Diagnose the agent, gateway, store and API setup."`
	Inspect    inspectCmd    `cmd:"" group:"Files of sessions" help:"Show what a session holds and where its tokens went."`
	Compact    compactCmd    `cmd:"" group:"Files of sessions" help:"Make a conversation smaller, in a form the API accepts, and show what survived."`
	Verify     verifyCmd     `cmd:"" group:"Files of sessions" help:"Show which facts of one conversation are still in another."`
	Replay     replayCmd     `cmd:"" group:"Files of sessions" help:"Play recorded sessions through several policies and compare tokens, dollars and what was missed."`
	Serve      serveCmd      `cmd:"" group:"The gateway" help:"Run a gateway in front of the Messages API."`
	Key        keyCmd        `cmd:"" group:"The gateway" help:"Make, list and revoke the keys that admit tenants to a gateway."`
	Report     reportCmd     `cmd:"" group:"The gateway" help:"Sum up what was kept, left out, spent and saved, by day, model and project."`
	Audit      auditCmd      `cmd:"" group:"The gateway" help:"List the commands that people have used to change the database."`
	Sandbox    sandboxCmd    `cmd:"" group:"The gateway" help:"Run a strict local stand-in for the Messages API."`
	Sessions   sessionsCmd   `cmd:"" group:"Conversations that are kept" help:"List the stored conversations."`
	Show       showCmd       `cmd:"" group:"Conversations that are kept" help:"Print a message, an original, a checkpoint, or an overview of a conversation."`
	Search     searchCmd     `cmd:"" group:"Conversations that are kept" help:"Search the text of all stored conversations."`
	Diff       diffCmd       `cmd:"" group:"Conversations that are kept" help:"Print how what the model sees differs from what was said."`
	Expand     expandCmd     `cmd:"" group:"Conversations that are kept" help:"Print the original behind a stub or a checkpoint."`
	Why        whyCmd        `cmd:"" group:"Conversations that are kept" help:"Print what an answer of an agent rests on in what its model was sent, and what of it was not."`
	Export     exportCmd     `cmd:"" group:"Conversations that are kept" help:"Write a conversation as a request of any API, so that you can leave at any time."`
	Forget     forgetCmd     `cmd:"" group:"Conversations that are kept" help:"Delete a conversation, or everything of a tenant, without a trace in the database."`
	GC         gcCmd         `cmd:"" group:"Conversations that are kept" name:"gc" help:"Delete old conversations."`
	Plan       planCmd       `cmd:"" group:"What the model sees of them" help:"Show what a pour would leave out now, what it would cost and save; --apply does it."`
	Pour       pourCmd       `cmd:"" group:"What the model sees of them" help:"Pour a conversation now: what plan shows, with a record about what you name."`
	Undo       undoCmd       `cmd:"" group:"What the model sees of them" help:"Undo the newest pour, and put the conversation on hold until you release it."`
	Pause      pauseCmd      `cmd:"" group:"What the model sees of them" help:"Put a conversation on hold: nothing more is left out until you release it."`
	Release    releaseCmd    `cmd:"" group:"What the model sees of them" help:"End the hold that an undo or a pause has put on a conversation."`
	Pin        pinCmd        `cmd:"" group:"What the model sees of them" help:"Protect a conversation from gc, or keep a message in what the model sees."`
	Chat       chatCmd       `cmd:"" group:"Agents" help:"Talk with an agent that never forgets, or have it answer once: decant chat -p TEXT"`
	Triage     triageCmd     `cmd:"" group:"Agents" help:"Look at the errors of your programs, and have an agent find out why they happen."`
	Notebook   notebookCmd   `cmd:"" group:"Agents" help:"Keep what is learned in a repository: observations, rules, tasks, decisions and a monthly report, as records and as files."`
	MCP        mcpCmd        `cmd:"" group:"Agents" name:"mcp" help:"Serve recall, originals and rules to an agent, over MCP on standard input and output."`
	Trust      trustCmd      `cmd:"" group:"Agents" help:"Say yes to the programs, addresses and files that the settings of a folder name."`
	Memory     memoryCmd     `cmd:"" group:"Agents" help:"List, show, forget, restore and export what is remembered beyond a conversation."`
	DB         dbCmd         `cmd:"" group:"The program" name:"db" help:"Check the database, or back it up."`
	Encrypt    encryptCmd    `cmd:"" group:"The program" help:"Encrypt the database, change its key, or decrypt it."`
	Models     modelsCmd     `cmd:"" group:"The program" help:"List the models that Decant knows, with windows, limits and prices."`
	Version    versionCmd    `cmd:"" group:"The program" help:"Print the version."`
	Completion completionCmd `cmd:"" group:"The program" help:"Print a completion script for a shell."`
}

func main() {
	tools.MainIfConfined()
	os.Exit(run(os.Args[1:], standard()))
}

// A runner is the struct of a command.
type runner interface{ Run(s *streams) error }

// program returns the command line of decant.
func program() *cli.Command {
	return cli.New("decant", "Context management for LLM agents: keep everything, send only what is needed.", &commands{}, "model", defaultModel)
}

// run runs one command line and returns its exit code.
func run(args []string, s *streams) (code int) {
	defer s.flush()
	cmd, help, err := program().Parse(spelled(args), os.Getenv)
	if err != nil {
		fmt.Fprintf(s.err, "%s: %s\nTry \"%s --help\".\n", cmd.Path(), secret.Mask(err.Error()), cmd.Path())
		return exitUsage
	}
	if help {
		err = cmd.WriteHelp(s.out, s.columns())
	} else {
		err = cmd.Target().(runner).Run(s)
	}
	if err != nil {
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
	case len(args) > 1 && args[0] == "chat" && args[1] == "serve":
		return append([]string{"chat", "--serve"}, args[2:]...)
	}
	return args
}
