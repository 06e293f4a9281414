// Package github is a strict stand-in for the part of GitHub's REST API that decant triage uses, over real git repositories.
//
// Each request and each answer is held against GitHub's own description of its API: openapi.json is an excerpt of npm package
// @octokit/openapi 23.0.2 (MIT, LICENSE.openapi), the operations that are served here with the schemas that they need, without descriptions,
// examples, and members that are neither required nor used. A request that the description does not allow is 422, an answer that it does not allow
// is 500.
//
// Limits are those of GitHub: a number of calls an hour, ten searches of code a minute, which see the default branch only, and thirty searches
// of issues a minute. Faults are told to the server by Inject. It counts the calls by operation.
package github
