package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/tools"
)

// pasted returns the text of a stack trace: from a file, an address, or standard input with -.
func pasted(ctx context.Context, s *streams, name string) (string, error) {
	if strings.Contains(name, "://") {
		return fetched(ctx, name)
	}
	in := s.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", inputError{err}
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, mostPasted))
	if err != nil {
		return "", inputError{err}
	}
	return string(b), nil
}

// fetched returns a page as an agent would fetch it: by https, from public addresses only, and without the credentials of anybody.
func fetched(ctx context.Context, url string) (string, error) {
	if !strings.HasPrefix(url, "https://") {
		return "", usageError{fmt.Errorf("%s: an address must begin with https://", url)}
	}
	box, err := tools.New(tools.Options{Dir: os.TempDir(), Fetch: tools.Fetch{Most: mostPasted}})
	if err != nil {
		return "", err
	}
	defer box.Close()
	for _, t := range box.Tools() {
		if t.Name != "fetch" {
			continue
		}
		args, err := json.Marshal(map[string]string{"url": url})
		if err != nil {
			return "", err
		}
		res, err := t.Run(ctx, &agent.Call{Tool: t.Name, Arguments: args, Progress: func(string) {}})
		if err != nil {
			return "", inputError{fmt.Errorf("%s: %w", url, err)}
		}
		return res.Text, nil
	}
	return "", errors.New("there is no way to fetch a page")
}
