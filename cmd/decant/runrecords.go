package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/plainfile"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/userdir"
	"github.com/decantdev/decant/internal/yamltext"
)

// runSettings is the file of the user's settings for decant run, in the form of --config.
const runSettings = "run.yaml"

// What a model may cost that writes beside the quotes, in dollars, where the settings say nothing else.
const (
	sessionUSD = 0.25
	dayUSD     = 1.00
)

// answered are the settings for an answer to the question whether a model may write.
const answered = `# Whether a cheap model may write beside the quotes, with the agent's own API key. Remove this to be asked again.
summary:
  use_client_credential: %v
  limits: {usd_per_session: %.2f, usd_per_day: %.2f}
`

// settle chooses the settings of the user where no others are named, and asks once whether a model may write records. It
// asks at a terminal only, and where neither the settings nor flags nor the environment say anything about such a model.
func (c *runCmd) settle(s *process.Process) error {
	if c.Config != "" || s.Getenv("DECANT_CONFIG") != "" {
		return nil
	}
	home, err := userdir.Config(s.Getenv)
	if err != nil {
		return nil // a system without a home has no settings of a user
	}
	name := filepath.Join(home, runSettings)
	data, err := plainfile.Read(name, 1<<20)
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit.Input(err)
	}
	has := map[string]any{}
	if err := yamltext.Unmarshal(data, &has); err != nil {
		return exit.Input(fmt.Errorf("%s: %w", name, err))
	}
	if has["summary"] == nil && !c.decided(s) && s.Asks() {
		yes := s.Confirm(fmt.Sprintf("May a cheap model write beside the quotes when a conversation is compacted, with this agent's own API key, for at most $%.2f a session and $%.2f a day?",
			sessionUSD, dayUSD))
		data = fmt.Appendf(data, answered, yes, sessionUSD, dayUSD)
		if err := errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(name, data, 0o600)); err != nil {
			return fmt.Errorf("keep the answer: %w", err)
		}
		s.Note("The answer is kept in %s.", name)
		there = true
	}
	if there {
		c.Config = name
	}
	return nil
}

// decided reports whether flags or the environment say whom to ask.
func (c *runCmd) decided(s *process.Process) bool {
	if c.UseClientCredential || c.SummaryModel != "" {
		return true
	}
	for _, name := range []string{"USE_CLIENT_CREDENTIAL", "SUMMARY_MODEL", "SUMMARY_API_KEY_ENV", "SUMMARY_KEY_FILE", "SUMMARY_BASE_URL"} {
		if s.Getenv("DECANT_"+name) != "" {
			return true
		}
	}
	return false
}
