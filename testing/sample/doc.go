// Package sample has programs with seeded defects, their history, and the errors that running them has brought, for tests of decant triage and for
// those who have no credentials yet.
//
// # The folder of a sample
//
//	sample.yaml     name; now, the time at which the sample is looked at; repos
//	repos/NAME/     the history of a program: patches as git format-patch --root writes them, in the order of their names
//	events.jsonl    one event.Event a line
//	runbooks/       Markdown with front matter, see code.Runbooks; it may be missing
//	truth.yaml      what is wrong, for tests only: see Defects. It may be missing
//
// Each of the repos in sample.yaml has a name, its folder of patches, the services whose code it has, mappings of paths as code.Mapping has them,
// and tags, each with the number of the patch that it stands behind. In place of patches, dir may name a clone, in the folder or elsewhere.
// Build and test, programs with their arguments, say how a patch is tried.
//
// The patches become repositories when they are first asked for. Names and times are those of the patches, so that the SHAs are always the same.
//
// # The bundled sample
//
// It is an order service in Go and a billing worker in Python. Its events were recorded by running each release on the requests in testdata/record, which
//
//	go test ./testing/sample -run TestRecord -record
//
// does again; it needs Go, git and python3.
package sample
