// Package chatserver is a service of agents that people talk to for months, over HTTP.
//
// A Server keeps agents, which are configurations, and sessions of them. What was said to a session stays said: a run goes on when whoever
// started it leaves, and after a restart Server.Continue goes on with what was under way. Whoever listens to a session gets
// its events in order, from where he stopped; whoever has missed too much gets the whole session at once instead.
//
// openapi.yaml describes the paths, the requests and the answers, and tests hold the answers against it. Each user is a tenant, by the key that
// a request brings (package keyring), and sees only what is his own.
package chatserver
