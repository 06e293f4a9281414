package main

type triageCmd struct {
	Run         triageRunCmd         `cmd:"" help:"Look at the errors of a time, have the most important ones investigated, and print a report."`
	Deliver     triageDeliverCmd     `cmd:"" help:"Send what a run has found to Slack and GitHub, as far as it was not sent before."`
	Investigate triageInvestigateCmd `cmd:"" help:"Investigate one error: a stack trace from a file, an address, or standard input with -."`
	Plan        triagePlanCmd        `cmd:"" help:"Show what a run would cost at once and in batches, and when it would be done. Nothing is sent."`
	Submit      triageSubmitCmd      `cmd:"" help:"Begin a run in batches, at half the price: the first phase of two, as a job of cron."`
	Collect     triageCollectCmd     `cmd:"" help:"Go on with a run in batches as far as it can go now: the second phase, as often as you like."`
	Ask         triageAskCmd         `cmd:"" help:"Ask about an error of a run: decant triage ask RUN#2 'Why not the cache?'"`
	Why         triageWhyCmd         `cmd:"" help:"Show what a finding rests on: the lines around each piece of evidence, and what was struck."`
	Report      triageReportCmd      `cmd:"" help:"Print the report of a run, as Markdown, JSON or a page."`
	Init        triageInitCmd        `cmd:"" help:"Write settings for this project. Until then run shows what it would do, and sends nothing to a model."`
	Doctor      triageDoctorCmd      `cmd:"" aliases:"check" help:"Examine each source, repository and credential, and say what to do."`
	Measure     triageMeasureCmd     `cmd:"" help:"Say what each context layer brings on your errors, without a model: tokens, answers, cost, and whether the same is found."`
	Sandbox     triageSandboxCmd     `cmd:"" help:"Serve stand-ins for New Relic, Sentry, GitHub and a model, with the errors and the code of a sample, until told to stop."`
	Runs        triageRunsCmd        `cmd:"" help:"List the runs, with what they found and cost."`
	Knowledge   triageKnowledgeCmd   `cmd:"" help:"List what is known of errors from earlier runs."`
	Feedback    triageFeedbackCmd    `cmd:"" help:"Say whether what was found about an error is right or wrong."`
}
