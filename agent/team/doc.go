// Package team lets an agent delegate to others that all begin with what it knew itself.
//
// A Team is a coordinator, an agent with the tool "delegate", and its members. What the model of the coordinator was sent when it
// delegates is sealed (agent.Snapshot): a snapshot with a hash over its exact bytes. Each delegate of that round begins with it, whatever the
// others and the coordinator do meanwhile, and what a delegate pours is its own.
//
//	t, err := team.New(client, team.Options{Agent: options, Members: []team.Member{
//		{Name: "marco", Description: "checks figures", Prompt: "You check figures."},
//	}})
//	...
//	for e, err := range t.Agent().Run(ctx, "Is the report right?") {
//		...
//	}
//
// # What a delegate is sent
//
// The instructions of the coordinator, the messages of the snapshot, and then a message of the user with the task. The answer by
// which the model delegates is not part of it: see agent.Snapshot. A member without a model and tools of its own shares both with the
// coordinator. Its prompt stands before its task, so that the request is the coordinator's up to there, and the provider has all of that
// in its cache. The request of any other member is another one to the cache from its beginning, so its prompt stands behind the
// instructions, where no pour reaches it. A member with a smaller window gets a projection: the snapshot, poured to fit, with
// a hash of its own.
//
// # What comes back
//
// The result of a delegation is one line of the ledger (who, how it ended, what it cost, from which snapshot) and the beginning of
// the answer. The tool "delegation" reads on, and lists all delegations. The ledger is a function of the history of the
// coordinator, which is never cut (Ledger): forks and sessions that go on in another process have it, too. After each pour the newest lines of it
// stand at the end of the request that was poured (agent.Options.Remind). There they change nothing that the provider has in its cache, as a list
// in the instructions would with every delegation, and take the same room however many there were, as pinned results would not.
//
// A delegate that fails, is refused or has no budget left is a result for the coordinator, which goes on. Delegates of a round work
// side by side, end with the context of the coordinator's run, and keep to their own budgets and to agent.Options.Allowance together.
// They delegate no further than Options.Depth, so that no circle of delegations goes on for ever.
package team
