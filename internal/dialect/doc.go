// Package dialect is the seam between Decant and the APIs by which models are asked.
//
// One interface, [Dialect], hides everything particular to one API. The packages above speak of doors,
// blocks, answers and refusals and know no API: transport and gateway find the dialect of a request by its
// path ([API.Door]), the engine and the archive ask the dialect of the conversation. Package dialect/index is
// the table of the dialects that there are, and testing/dialecttest the suite that each of them must pass.
//
//	the way of a request                      who is asked
//	a path                                    API.Door
//	a body → blocks                           Requests.Parse, which may refuse what does not hold its conversation
//	whose conversation, which blocks it has   Requests.Session, Requests.Identity
//	a refusal by the provider                 Answers.ReadRefusal
//	an answer, streamed or whole              Answers.ReadAnswer
//	a refusal of ours                         API.Refuse
//	a conversation read back from the store   Requests.Fixed, Requests.Assemble
//
// What not every API can do is an interface of its own that a dialect may have as well: [Clearer] where the
// provider can be asked to leave old results out of the prompt, [Compacter] where it writes summaries,
// [Pauser] where it manages prompts by rules, [Dropper] where it can be asked to drop thinking that no longer
// fits, [LateRefuser] where it may refuse a request in the stream of its answer, [Follower] where a client may name an
// answer in place of the conversation up to it, [Batcher] where requests come in batches whose price is known. Without
// them there is simply no such way.
//
// What has a place elsewhere: how a body is taken apart and written is a [wire.Format], and how it may be changed a set
// of rules in package legal, both under the dialect's name. Cache markers are part of a parsed block, so an API without
// them needs nothing here. Thinking is a block that no identity covers; what it is bound to is a rule.
//
// To add an API: give wire its format and legal its rules, implement Dialect, run the suite over real bodies
// and answers, and add it to the table. A request that continues state which only the provider has
// is one that Parse refuses: it passes as it came.
package dialect
