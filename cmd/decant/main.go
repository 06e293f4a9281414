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
	"github.com/decantdev/decant/apps/chat/chatcmd"
	"github.com/decantdev/decant/apps/notebook/notebookcmd"
	"github.com/decantdev/decant/apps/triage/triagecmd"
	"github.com/decantdev/decant/internal/cli"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/secret"
)

// commands is the command line; each field's type is in the file named after it.
type commands struct {
	Demo       demoCmd             `cmd:"" group:"Get started" help:"Show what Decant does to a real session. Needs no network and no key." example:"decant demo"`
	Run        runCmd              `cmd:"" group:"Get started" help:"Run an agent behind its own gateway." example:"decant run -- claude"`
	Doctor     doctorCmd           `cmd:"" group:"Get started" help:"Check the agent, gateway, database and API setup." example:"decant doctor"`
	Inspect    inspectCmd          `cmd:"" group:"Session files" help:"Show what a session contains and where its tokens went." example:"decant inspect session.jsonl"`
	Compact    compactCmd          `cmd:"" group:"Session files" help:"Make a session smaller in a form the API accepts, and show what survived." example:"decant compact --to 20k -o small.json session.jsonl"`
	Verify     verifyCmd           `cmd:"" group:"Session files" help:"Show which facts of one conversation are still in another." example:"decant verify session.jsonl small.json"`
	Replay     replayCmd           `cmd:"" group:"Session files" help:"Replay recorded sessions under several policies; compare tokens, cost and recall." example:"decant replay --policy none --policy default session.jsonl"`
	Serve      serveCmd            `cmd:"" group:"Gateway" help:"Run a gateway in front of the Messages API." example:"decant serve --listen 127.0.0.1:4141"`
	Key        keyCmd              `cmd:"" group:"Gateway" help:"Create, list and revoke the keys of tenants."`
	Report     reportCmd           `cmd:"" group:"Gateway" help:"Show what was kept, left out, spent and saved, by day, model and project." example:"decant report --since 7d"`
	Audit      auditCmd            `cmd:"" group:"Gateway" help:"List the commands that changed the database." example:"decant audit --since 30d"`
	Sandbox    sandboxCmd          `cmd:"" group:"Gateway" help:"Run a strict local stand-in for the Messages API and OpenAI's APIs." example:"decant sandbox --listen 127.0.0.1:4142"`
	Sessions   sessionsCmd         `cmd:"" group:"Stored conversations" help:"List stored conversations." example:"decant sessions --since 7d"`
	Show       showCmd             `cmd:"" group:"Stored conversations" help:"Print a message, an original, a checkpoint, or an overview of a conversation." example:"decant show last m12"`
	Search     searchCmd           `cmd:"" group:"Stored conversations" help:"Search the text of all stored conversations." example:"decant search cache markers"`
	Diff       diffCmd             `cmd:"" group:"Stored conversations" help:"Show how the view the model gets differs from the conversation." example:"decant diff last"`
	Expand     expandCmd           `cmd:"" group:"Stored conversations" help:"Print the original that a handle stands for." example:"decant expand d:1f2e3d4c"`
	Why        chatcmd.Why         `cmd:"" group:"Stored conversations" help:"Show which sent messages support an answer, and which claims have no source." example:"decant why last m14"`
	Export     exportCmd           `cmd:"" group:"Stored conversations" help:"Write a conversation as a request for any API." example:"decant export last --as openai-chat -o request.json"`
	Forget     forgetCmd           `cmd:"" group:"Stored conversations" help:"Delete a conversation, or all data of a tenant, without a trace in the database." example:"decant forget last"`
	GC         gcCmd               `cmd:"" group:"Stored conversations" name:"gc" help:"Delete old conversations." example:"decant gc --age 30d --size 20GB"`
	Keep       keepCmd             `cmd:"" group:"Stored conversations" help:"Protect a conversation from gc." example:"decant keep last"`
	Plan       planCmd             `cmd:"" group:"What the model sees" help:"Show what a pour would leave out now, and its price." example:"decant plan last"`
	Pour       pourCmd             `cmd:"" group:"What the model sees" help:"Leave out now what is no longer needed. decant plan shows it first." example:"decant pour last"`
	Undo       undoCmd             `cmd:"" group:"What the model sees" help:"Undo the newest pour and put the conversation on hold." example:"decant undo last"`
	Hold       holdCmd             `cmd:"" group:"What the model sees" help:"Stop pours of a conversation until you release it." example:"decant hold last"`
	Release    releaseCmd          `cmd:"" group:"What the model sees" help:"Allow pours of a conversation again, after a hold or an undo." example:"decant release last"`
	Pin        pinCmd              `cmd:"" group:"What the model sees" help:"Keep a message in the view, word for word." example:"decant pin last m12"`
	Chat       chatcmd.Command     `cmd:"" group:"Agents" help:"Talk to an agent that keeps every message, or ask it once." example:"decant chat -p \"Which tests fail?\""`
	Triage     triageCmd           `cmd:"" group:"Agents" help:"Find out why the errors of your programs happen."`
	Notebook   notebookcmd.Command `cmd:"" group:"Agents" help:"Keep rules, decisions, tasks and observations of a repository."`
	MCP        notebookcmd.MCP     `cmd:"" group:"Agents" name:"mcp" help:"Serve recall, originals and rules to an agent over MCP (stdio)." example:"decant mcp"`
	Trust      trustCmd            `cmd:"" group:"Agents" help:"Approve the programs, addresses and files that the settings of a folder name." example:"decant trust ."`
	Memory     memoryCmd           `cmd:"" group:"Agents" help:"Manage what is remembered across conversations."`
	DB         dbCmd               `cmd:"" group:"Maintenance" name:"db" help:"Check the database, or back it up."`
	Encrypt    encryptCmd          `cmd:"" group:"Maintenance" help:"Encrypt the database, change its key, or decrypt it." example:"decant encrypt --encryption-key-file key"`
	Models     modelsCmd           `cmd:"" group:"Maintenance" help:"List known models with windows, limits and prices." example:"decant models"`
	Version    versionCmd          `cmd:"" group:"Maintenance" help:"Print the version." example:"decant version"`
	Completion completionCmd       `cmd:"" group:"Maintenance" help:"Print a completion script for a shell." example:"decant completion bash"`
}

func main() {
	tools.MainIfConfined()
	os.Exit(run(standard()))
}

// standard returns the process of this program.
func standard() *process.Process {
	s := process.Standard()
	s.Version, s.Commit = versionOf(buildInfo()), commitOf(buildInfo())
	return s
}

// A runner is the struct of a command.
type runner interface {
	Run(s *process.Process) error
}

// program returns the command line of decant.
func program() *cli.Command {
	all := new(commands)
	all.Chat.StandIn = standIn
	all.Triage.Command = triagecmd.New(triagecmd.Sandbox{Sample: triageSample, StandIn: triageStandIn})
	all.Notebook.Scan.Pour = pourSession
	return cli.New("decant", "Context management for LLM agents: keep everything, send only what is needed.", all, "model", chatcmd.DefaultModel)
}

// run runs one command line and returns its exit code.
func run(s *process.Process) (code int) {
	defer s.Flush()
	cmd, help, err := program().Parse(spelled(s.Args), s.Getenv)
	if err != nil {
		fmt.Fprintf(s.Err, "%s: %s\nTry \"%s --help\".\n", cmd.Path(), secret.Mask(err.Error()), cmd.Path())
		return exit.BadUsage
	}
	if help {
		err = cmd.WriteHelp(s.Out, s.Columns())
	} else {
		err = cmd.Target().(runner).Run(s)
	}
	if err != nil && !errors.As(err, new(exit.Status)) {
		s.Warn(err)
	}
	return exit.Code(err)
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
	}
	return args
}
