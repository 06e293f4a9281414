package main

import "github.com/decantdev/decant/internal/chat"

// tools gives a chat what it may do, and says which calls need a question.
func (c *chatCmd) tools(*chat.Options) (func() error, error) { return nil, nil }
