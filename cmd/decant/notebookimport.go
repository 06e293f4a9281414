package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/decantdev/decant/internal/notebook"
	"github.com/decantdev/decant/internal/plainfile"
	"github.com/decantdev/decant/internal/report"
)

type notebookImportCmd struct {
	Files []string `arg:"" name:"file" help:"CLAUDE.md, AGENTS.md, a memory of Claude Code, DONE.md, or the database of claude-mem."`
	notebookFlag
}

// Run takes over what other files hold. They stay as they are.
func (c *notebookImportCmd) Run(s *streams) error {
	return c.book(func(ctx context.Context, b *notebook.Book) error {
		before, err := c.files(ctx, s, b)
		if err != nil {
			return err
		}
		for _, name := range c.Files {
			n, err := c.one(ctx, b, name)
			if err != nil {
				return inputError{fmt.Errorf("%s: %w", name, err)}
			}
			s.note("%s: %s", name, report.Count(n, "new record"))
		}
		if c.DryRun {
			return c.diff(ctx, s, b, before)
		}
		return nil
	})
}

// mostImport is how many bytes a file may have that is taken over.
const mostImport = 16 << 20

func (c *notebookImportCmd) one(ctx context.Context, b *notebook.Book, name string) (int, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".db", ".sqlite":
		texts, err := claudeMem(ctx, name, b.Name())
		if err != nil {
			return 0, err
		}
		return b.Propose(ctx, "claude-mem", texts)
	case ".md":
		text, err := plainfile.Read(name, mostImport)
		if err != nil {
			return 0, err
		}
		return b.Import(ctx, name, string(text))
	}
	return 0, errors.New("want a Markdown file, or a database of claude-mem (.db)")
}

const notClaudeMem = "it is no database of claude-mem that is known"

// claudeMem returns what claude-mem has noted of a repository, a line each: what it noted in a worktree is filed by it under
// "repository/worktree", and what it merged later under the old name. Its database is read only.
func claudeMem(ctx context.Context, name, project string) (out []string, err error) {
	if _, err := os.Stat(name); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: name}).EscapedPath()+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	merged := "project" // older versions do not merge projects
	if err := db.QueryRowContext(ctx, "SELECT name FROM pragma_table_info('observations') WHERE name = 'merged_into_project'").Scan(&merged); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%s: %w", notClaudeMem, err)
	}
	rows, err := db.QueryContext(ctx, `SELECT coalesce(title, ''), coalesce(subtitle, '') FROM observations
		WHERE ?1 IN (project, `+merged+`) OR substr(project, 1, length(?1) + 1) = ?1 || '/' ORDER BY created_at_epoch, id`, project)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", notClaudeMem, err)
	}
	defer rows.Close()
	for rows.Next() {
		var title, subtitle string
		if err := rows.Scan(&title, &subtitle); err != nil {
			return nil, err
		}
		if title = strings.TrimSpace(title); title == "" {
			continue
		}
		if subtitle != "" {
			title += ": " + subtitle
		}
		out = append(out, title)
	}
	return out, rows.Err()
}

type notebookPublishCmd struct {
	Agents bool `help:"Also add a line to AGENTS.md that names the file."`
	Remove bool `help:"Take both back."`
	notebookFlag
}

// Run writes the rules where agents without the plugin read them.
func (c *notebookPublishCmd) Run(s *streams) error {
	return c.book(func(ctx context.Context, b *notebook.Book) (err error) {
		var changes []notebook.Change
		if c.Remove {
			changes, err = b.Unpublish(ctx)
		} else {
			changes, err = b.Publish(ctx, c.Agents)
		}
		if err != nil {
			return err
		}
		if c.DryRun {
			return printChanges(s, changes)
		}
		for _, ch := range changes {
			fmt.Fprintln(s.out, filepath.Join(b.Root(), ch.Name))
		}
		return nil
	})
}
