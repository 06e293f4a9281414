package main

type triageCmd struct {
	Run         triageRunCmd         `cmd:"" help:"Look at the errors of a time, have the most important ones investigated, and print a report."`
	Investigate triageInvestigateCmd `cmd:"" help:"Investigate one error: a stack trace from a file, an address, or standard input with -."`
	Ask         triageAskCmd         `cmd:"" help:"Ask about an error of a run: decant triage ask RUN#2 'Why not the cache?'"`
	Why         triageWhyCmd         `cmd:"" help:"Show what a finding rests on: the lines around each piece of evidence, and what was struck."`
	Report      triageReportCmd      `cmd:"" help:"Print the report of a run, as Markdown, JSON or a page."`
	Init        triageInitCmd        `cmd:"" help:"Write settings for this project. Until then run shows what it would do, and sends nothing to a model."`
	Doctor      triageDoctorCmd      `cmd:"" aliases:"check" help:"Examine each source, repository and credential, and say what to do."`
	Sandbox     triageSandboxCmd     `cmd:"" help:"Serve stand-ins for New Relic, Sentry, GitHub and a model, with the errors and the code of a sample, until told to stop."`
	Runs        triageRunsCmd        `cmd:"" help:"List the runs, with what they found and cost."`
	Knowledge   triageKnowledgeCmd   `cmd:"" help:"List what is known of errors from earlier runs."`
	Feedback    triageFeedbackCmd    `cmd:"" help:"Say whether what was found about an error is right or wrong."`
}
