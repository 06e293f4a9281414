package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const mb = 1e6

// binary measures the size of the program.
func binary(m *machine, c *costs) error {
	info, err := os.Stat(m.decant)
	if err == nil {
		c.add("program, stripped", float64(info.Size())/mb, "MB")
	}
	return err
}

// commands measures what people and agents wait for many times a day: start, and the hook of a session that begins.
func commands(m *machine, c *costs) error {
	kept := filepath.Join(m.dir, "kept")
	made := process{program: m.inside, home: kept, args: []string{"open", filepath.Join(kept, ".local/share/decant/decant.db")}}
	homes := 0
	hook := func(home string) process {
		event := fmt.Sprintf(`{"session_id":"s","hook_event_name":"SessionStart","source":"startup","cwd":%q}`, m.dir)
		return process{program: m.decant, home: home, args: []string{"notebook", "hook", "SessionStart"}, input: event}
	}
	if _, _, err := m.run(made); err != nil {
		return err
	}
	all, err := m.inTurn(map[string]func() process{
		"nothing": func() process { return process{program: m.self, role: "nothing"} },
		"decant version": func() process {
			return process{program: m.decant, home: kept, args: []string{"version"}}
		},
		"hook of a session that begins, no database": func() process {
			homes++
			return hook(filepath.Join(m.dir, fmt.Sprint("home", homes)))
		},
		"hook of a session that begins, database": func() process { return hook(kept) },
	})
	if err != nil {
		return err
	}
	floor := all["nothing"].CPU
	for _, name := range []string{"decant version", "hook of a session that begins, no database", "hook of a session that begins, database"} {
		c.add(name+cpuTime, times(all[name].CPU, floor), "times an empty program")
		c.add(name+": memory", float64(all[name].Peak)/mb, "MB at the peak")
	}
	return nil
}

// times is how many times the floor something takes.
func times(d, floor time.Duration) float64 { return float64(d) / float64(floor) }

const session = "testdata/claude-code-session.jsonl.gz"

// files measures commands that read a session from a file.
func files(m *machine, c *costs) error {
	t, err := newTalk(session)
	if err != nil {
		return err
	}
	text := t.body(t.messages(0, 3*mb))
	file := filepath.Join(m.dir, "request.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	all, err := m.inTurn(map[string]func() process{
		"rewrites": func() process { return process{program: m.self, role: "rewrites", args: []string{file}} },
		"compact": func() process {
			return process{program: m.decant, home: m.dir, args: []string{"compact", "--to", "10%", "-o", filepath.Join(m.dir, "compacted.json"), "--force", file}}
		},
		"replay": func() process { return process{program: m.decant, home: m.dir, args: []string{"replay", session}} },
	})
	if err != nil {
		return err
	}
	floor, compact, replay := all["rewrites"].CPU/rewritten, all["compact"], all["replay"]
	c.add("decant compact --to 10%, 3 MB of request"+cpuTime, times(compact.CPU, floor), "times rewriting the JSON")
	c.add("decant compact --to 10%, 3 MB of request: memory", float64(compact.Peak)/float64(len(text)), "bytes at the peak for each byte")
	c.add("decant replay of one session"+cpuTime, times(replay.CPU, floor)*float64(len(text))/mb, "times rewriting 1 MB of JSON")
	c.add("decant replay of one session: memory", float64(replay.Peak)/mb, "MB at the peak")
	return nil
}

// commits measures what a store does for a round of 4 KB that is appended to a conversation.
func commits(m *machine, c *costs) error {
	s, _, err := m.run(process{program: m.inside, home: m.dir, args: []string{"commits", m.database()}})
	if err != nil {
		return err
	}
	c.add("commit of 4 KB: allocations", s.Mallocs, "for each commit")
	c.add("commit of 4 KB: allocated", s.Bytes/1000, "KB for each commit")
	m.empty = s.Database
	return nil
}

// plans finds what the statements of the store read.
func plans(m *machine, c *costs) error {
	_, out, err := m.run(process{program: m.inside, home: m.dir, args: []string{"plans", "store/sqlite", m.database()}})
	if err == nil {
		err = json.Unmarshal(out, &c.Plans)
	}
	return err
}
