package permission

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/yamltext"
)

// load reads a file of rules (see Options.File). An error names the file, and the line or the entry that is wrong.
func load(file string) (r Rules, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		r, err = decode(data)
	}
	if err != nil {
		return Rules{}, fmt.Errorf("rules in %s: %w", file, err)
	}
	return r, nil
}

// decode reads rules as they are stored.
func decode(data []byte) (r Rules, err error) {
	var entries []map[agent.VerdictKind]string
	if err := yamltext.Unmarshal(data, &entries); err != nil {
		return r, err
	}
	for i, e := range entries {
		if len(e) != 1 {
			return r, fmt.Errorf("entry %d: it must have one key, allow, ask or deny, and is like \"- allow: bash(git diff:*)\"", i+1)
		}
		for kind, text := range e {
			rule, err := Parse(text)
			if err == nil {
				err = r.Add(kind, rule)
			}
			if err != nil {
				return r, fmt.Errorf("entry %d: %w", i+1, err)
			}
		}
	}
	return r, nil
}

// store adds rules at the end of a file, which is made if there is none. It is one write, so that several processes may
// append at the same time. Rules that the file has already are left out. A file that cannot be read is left as it is.
func store(file string, kind agent.VerdictKind, rules ...Rule) error {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines, err := addition(data, kind, rules)
	if err != nil {
		return fmt.Errorf("rules in %s: %w", file, err)
	}
	if len(lines) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Close())
}

// addition returns what is to be appended to data.
func addition(data []byte, kind agent.VerdictKind, rules []Rule) ([]byte, error) {
	have, err := decode(data)
	if err != nil {
		return nil, err
	}
	fresh := Rules{Deny: have.Deny, Ask: have.Ask, Allow: have.Allow}
	var lines []byte
	for _, r := range rules {
		before := len(fresh.Deny) + len(fresh.Ask) + len(fresh.Allow)
		if err := fresh.Add(kind, r); err != nil {
			return nil, err
		}
		if len(fresh.Deny)+len(fresh.Ask)+len(fresh.Allow) == before {
			continue
		}
		line, err := yaml.Marshal([]map[agent.VerdictKind]string{{kind: r.String()}})
		if err != nil {
			return nil, err
		}
		lines = append(lines, line...)
	}
	if len(lines) > 0 && len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		lines = append([]byte("\n"), lines...)
	}
	if _, err := decode(append(bytes.Clone(data), lines...)); err != nil {
		return nil, fmt.Errorf("a line at its end would not be read as a rule; make it a list of lines such as \"- allow: read\": %w", err)
	}
	return lines, nil
}
