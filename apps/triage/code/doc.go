// Package code shows an investigation the code that ran when an error happened: files, searches and changes of repositories, at the
// commit of the event's release.
//
// A repository is a local clone, which is read with git at a commit and never through its working tree, or it is read from GitHub. In both
// the same questions have the same answers: a search is for a regular expression (RE2) line by line in what the commit holds.
//
//	r, err := code.New(code.Options{Repos: []code.Repo{{Name: "acme/shop", Dir: "/src/shop", Paths: []code.Mapping{{From: "/app/"}}}}})
//	...
//	at, err := r.Version(ctx, "acme/shop", event.Release)
//	name, ok := r.Find(ctx, at, event.Frames[0])
//	answer, err := r.ReadFile(ctx, at, name, 1, 0)
//
// # What was shown
//
// Each Answer says which lines of which file at which commit it has shown, after all cuts: Answer.Shown. A Seen holds this for one
// investigation, so that what a model quotes can be checked against what it was shown, and so that nobody can suspect a commit whose
// changes he has not read.
//
// # Trust
//
// What repositories hold is data. Git runs without hooks, without the user's configuration and environment, and without the network; names
// from outside never stand where git reads options. Options.Mask sees every text before it is shown.
package code
