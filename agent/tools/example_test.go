package tools_test

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/tools"
)

// A program begins like this, so that commands are confined where there is no bubblewrap.
func ExampleMainIfConfined() {
	tools.MainIfConfined()

	s, err := tools.New(tools.Options{Dir: "."})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println("commands are confined by", s.Confined())
}

// What calls have changed is taken back by their ids.
func ExampleSet_Rewind() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := tools.New(tools.Options{Dir: dir, Shell: tools.Shell{Off: true}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, t := range s.Tools() {
		if t.Name == "write" {
			arguments := stdjson.RawMessage(`{"file_path":"notes.md","content":"draft"}`)
			if _, err := t.Run(context.Background(), &agent.Call{ID: "toolu_1", Tool: "write", Arguments: arguments}); err != nil {
				log.Fatal(err)
			}
		}
	}
	var r tools.Rewound
	r, err = s.Rewind("toolu_1")
	if errors.Is(err, tools.ErrChanged) {
		fmt.Println("somebody else has written to it")
	}
	_, err = os.Stat(filepath.Join(dir, "notes.md"))
	fmt.Println(r.Files, "is there:", err == nil)
	// Output: [notes.md] is there: false
}
