package token_test

import (
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A meter starts from the newest size that the provider reported, and estimates what came after it. What the estimates
// missed between two reports makes the next ones better.
func ExampleMeter() {
	say := func(role decant.Role, words string, prompt int) decant.Message {
		m := decant.Message{Role: role, Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text(words)}}}
		if prompt > 0 {
			m.Usage = &decant.Usage{Input: prompt, Output: 5}
		}
		return m
	}
	c := &decant.Conversation{Messages: []decant.Message{
		say(decant.RoleUser, "Where do we keep the wine?", 0), say(decant.RoleAssistant, "In the cellar.", 120),
	}}
	models, err := token.Builtin()
	if err != nil {
		fmt.Println(err)
		return
	}
	model, _ := models.Lookup("claude-opus-4-6")
	m := token.Meter{Estimator: token.For(model)}

	r := m.Read(c)
	fmt.Println(r.Anchor, "reported and", r.Since, "estimated")

	c.Messages = append(c.Messages, say(decant.RoleUser, strings.Repeat("And who has the key? ", 100), 0))
	r = m.Read(c)
	fmt.Println(r.Anchor, "reported and", r.Since, "estimated")

	c.Messages = append(c.Messages, say(decant.RoleAssistant, "Nobody knows.", 800))
	m.Calibration = m.Calibration.Observe(r.Since, 800-r.Anchor)
	fmt.Printf("learned from %d answer: times %.2f\n", m.Calibration.Seen, m.Calibration.Factor)
	// Output:
	// 125 reported and 0 estimated
	// 125 reported and 460 estimated
	// learned from 1 answer: times 1.01
}
