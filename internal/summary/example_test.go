package summary_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/summary"
)

// A conversation is written down as a record that somebody else can go on from.
func ExampleExtract() {
	ms := []decant.Message{
		{Number: 1, Role: decant.RoleUser, Blocks: []decant.Block{
			{
				Kind: decant.KindText, Author: decant.AuthorUser,
				Content: decant.Text("The login fails for names with a space. Never touch the database."),
			},
		}},
		{Number: 2, Role: decant.RoleAssistant, Blocks: []decant.Block{
			{Kind: decant.KindUse, Author: decant.AuthorModel, CallID: "a", Name: "Bash", Content: decant.Text(`{"command":"go test ./login"}`)},
		}},
		{Number: 3, Role: decant.RoleUser, Blocks: []decant.Block{
			{
				Kind: decant.KindResult, Author: decant.AuthorTool, CallID: "a", Error: true,
				Content: decant.Text("Exit code 1\n--- FAIL: TestLogin (0.00s)\n" + strings.Repeat("some output of the test that nobody needs again\n", 20)),
			},
		}},
	}
	s, err := summary.Extract(context.Background(), ms, summary.Options{Budget: 95})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(s.Text)
	// Output:
	// [Decant record of m1-m3, not the user's words]
	// # User
	// m1 The login fails for names with a space. Never touch the database.
	// # Goal
	//   The request in hand is m1: The login fails for names with a space. Never touch the database.
	// # Rules
	// m1 Never touch the database.
	// # State
	// m2 $ go test ./login → 1 failed: TestLogin
	//   --- FAIL: TestLogin (0.00s)
}
