// Package agent runs agents whose conversations outgrow any window.
//
// An Agent is a model with instructions, tools and limits. It works in sessions: a Session is one conversation, which is held in
// the order in which things happened and is never cut.
//
//	a, err := agent.New(client, agent.Options{Model: "claude-sonnet-5-5", Engine: db.Engine(), Tools: tools})
//	...
//	for e, err := range a.Run(ctx, "Which of these tests fail, and why?") {
//		...
//	}
//
// A run goes around one loop: the engine says what the model is to be sent and pours if it must be, the model answers, the calls
// that it asks for are made, and their results go back, until the model asks for none, a limit is reached, somebody must allow
// a call, or the context ends. Wherever it ends, the history is one that the API takes: each call has a result, if only one that says
// why it was not made.
//
// At the limit of a budget the model is asked for its final answer with the tools switched off. What that costs is held back from the
// first call on, so that a run ends with an answer and within its budget. Where little is left, answers may be shorter than Options.MaxTokens,
// and the final one comes without thinking. A budget without room for one call and the answer behind it is ErrBudget, which says how much they take.
//
// Where Options.Journals is set, sessions are kept: a call is written down before it is made, and Agent.Open goes on in another process with
// what was said, with the calls that wait to be allowed, and with a run whose process was killed (Session.Continue). No call is made twice
// unless its tool says that this is the same as once; where nobody knows what a call has done, the model is told so.
//
// Three sizes are never mixed: what a request holds (Event.Size), the room that the window of the model has (Event.Window), and what
// a run has used (Event.Spent).
package agent
