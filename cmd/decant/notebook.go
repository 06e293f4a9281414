package main

type notebookCmd struct {
	Candidates notebookCandidatesCmd `cmd:"" help:"Show what you told agents again and again, from the sessions that they have recorded."`
	Report     notebookReportCmd     `cmd:"" help:"Sum up a month: sessions, tokens, tasks, cost, and what you had to say again."`
	Hook       notebookHookCmd       `cmd:"" help:"Answer a hook of Claude Code, whose description is read from standard input. The plugin uses it."`
}
