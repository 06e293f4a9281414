// Approval is an agent that works on the files of a folder and asks before it changes one.
//
//	ANTHROPIC_API_KEY=... go run ./examples/approval "Write a haiku about rivers into haiku.txt"
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
)

func main() {
	client, err := anthropic.FromEnv()
	if err == nil {
		err = run(context.Background(), client, ".", "approval.db", strings.Join(os.Args[1:], " "), os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "approval:", err)
		os.Exit(1)
	}
}

// run works on a task. Where the run ends because a call must be allowed, it asks, and goes on with the answer.
func run(ctx context.Context, client provider.Speaker, dir, file, task string, in io.Reader, out io.Writer) error {
	db, err := embedded.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	set, err := tools.New(tools.Options{Dir: dir, Shell: tools.Shell{Off: true}, Fetch: tools.Fetch{Off: true}})
	if err != nil {
		return err
	}
	defer set.Close()
	guard, err := permission.New(permission.Options{Dir: dir})
	if err != nil {
		return err
	}
	a, err := agent.New(client, agent.Options{Engine: db.Engine(), Model: "claude-sonnet-5-5", Tools: set.Tools(), Permit: guard.Permit})
	if err != nil {
		return err
	}
	s, answers := a.Session(""), bufio.NewScanner(in)
	events := s.Run(ctx, task)
	for events != nil {
		for e, err := range events {
			if err != nil {
				return err
			}
			if e.Kind == agent.EventMessage {
				fmt.Fprintln(out, e.Text)
			}
		}
		events = nil
		if waiting := s.Waiting(); len(waiting) > 0 {
			events = s.Resume(ctx, waiting[0].ID, ask(guard, &waiting[0], answers, out))
		}
	}
	return nil
}

// ask shows what a call would change and reads what is to be done about it.
func ask(guard *permission.Guard, c *agent.Call, answers *bufio.Scanner, out io.Writer) agent.Verdict {
	rules := guard.For(nil, c)
	fmt.Fprintf(out, "%s\n%sAllow %s? [y]es, [a]lways %v, [n]o: ", c.Tool, c.Preview, c.Tool, rules)
	answer := ""
	if answers.Scan() {
		answer = answers.Text()
	}
	switch answer {
	case "a":
		if err := guard.Add(agent.Allow, rules...); err != nil {
			return agent.Verdict{Kind: agent.Deny, Reason: err.Error()}
		}
		fallthrough
	case "y":
		return agent.Verdict{Kind: agent.Allow}
	}
	return agent.Verdict{Kind: agent.Deny, Reason: answer}
}
