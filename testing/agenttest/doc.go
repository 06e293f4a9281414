// Package agenttest has a fake model for tests of agents.
//
// A Model plays a script: each turn says what the model answers, and may say what it must have been asked. It needs no network and no
// key, and takes no time unless a turn asks for some. The engine behind the agent is a real one.
//
//	model := agenttest.New(t,
//		agenttest.Turn{Calls: []agenttest.Call{{Tool: "read", Arguments: `{"path":"go.mod"}`}}},
//		agenttest.Turn{Want: "result of read: module example.com/shop", Text: "It is a shop."},
//	)
//	a, err := agent.New(model, agent.Options{Model: "claude-sonnet-5-5", Engine: agenttest.Engine(t), Tools: tools})
//
// A test fails when a request is one that the Messages API would refuse, when it does not ask what the script wants, when the script is
// over before the run is, and when turns were not played at its end. What failed is shown line by line.
package agenttest
