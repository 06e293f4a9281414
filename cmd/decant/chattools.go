package main

import "github.com/decantdev/decant/internal/chat"

// giveTools gives a chat what it may do, and says which calls need a question.
func giveTools(*chat.Options) (func() error, error) { return nil, nil }
