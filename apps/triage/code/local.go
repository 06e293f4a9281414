package code

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A local is a clone on this machine. Its working tree is never looked at.
type local struct{ gitDir }

// openLocal opens a clone, with a working tree or bare.
func openLocal(dir string) (*local, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("a local clone is read with git, which is not installed: install it, or leave dir out to read from GitHub")
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open the clone: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", dir)
	}
	l := &local{gitDir{dir: dir}}
	if _, err := l.output(context.Background(), "rev-parse", "--git-dir"); err != nil {
		return nil, fmt.Errorf("%s is not the top of a git repository: %w", dir, err)
	}
	return l, nil
}

// resolve returns the commit of a full name of git.
func (l *local) resolve(ctx context.Context, name string) (string, error) {
	out, err := l.output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	sha := strings.TrimSpace(string(out))
	switch {
	case exited(err, 1), exited(err, 128), err == nil && !fullSHA.MatchString(sha):
		return "", fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case err != nil:
		return "", err
	}
	return sha, nil
}

func (l *local) commit(ctx context.Context, name string) (string, error) {
	if !plainRef.MatchString(name) {
		return "", fmt.Errorf("%q is no tag: %w", name, fs.ErrNotExist)
	}
	sha, err := l.resolve(ctx, "refs/tags/"+name)
	if !errors.Is(err, fs.ErrNotExist) || !shaLike.MatchString(name) {
		return sha, err
	}
	if sha, err = l.resolve(ctx, name); err == nil && !strings.HasPrefix(sha, name) {
		err = fmt.Errorf("%s is a branch: %w", name, fs.ErrNotExist)
	}
	return sha, err
}

// head prefers what the clone knows of where it came from: what somebody has checked out is his own affair.
func (l *local) head(ctx context.Context, branch string) (name, sha string, err error) {
	tries := []string{"refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "HEAD"}
	if branch != "" {
		if !plainRef.MatchString(branch) {
			return "", "", fmt.Errorf("%q is no name of a branch", branch)
		}
		tries = []string{"refs/remotes/origin/" + branch, "refs/heads/" + branch}
	}
	for _, try := range tries {
		if sha, err = l.resolve(ctx, try); err == nil {
			break
		}
	}
	if err != nil {
		return "", "", fmt.Errorf("none of %s is there: %w", strings.Join(tries, ", "), err)
	}
	return l.branchName(ctx, branch), sha, nil
}

// branchName returns what the default branch is called.
func (l *local) branchName(ctx context.Context, branch string) string {
	if branch != "" {
		return branch
	}
	for _, try := range [][]string{{"symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"}, {"rev-parse", "--verify", "--quiet", "--symbolic-full-name", "refs/heads/main"},
		{"rev-parse", "--verify", "--quiet", "--symbolic-full-name", "refs/heads/master"}, {"symbolic-ref", "--quiet", "HEAD"}} {
		out, err := l.output(ctx, try...)
		if name := strings.TrimSpace(string(out)); err == nil && name != "" {
			return name[strings.LastIndexByte(name, '/')+1:]
		}
	}
	return "HEAD"
}

func (l *local) tree(ctx context.Context, sha string) (*tree, error) {
	if err := checkSHA(sha); err != nil {
		return nil, err
	}
	out, err := l.output(ctx, "ls-tree", "-r", "-z", "-l", "--full-tree", sha)
	if err != nil {
		return nil, err
	}
	var files []file
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		head, name, ok := strings.Cut(string(entry), "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 4 {
			continue
		}
		f := file{name: name, blob: fields[2], link: fields[1] != "blob" || fields[0] == "120000", size: -1, program: fields[0] == "100755"}
		if n, err := strconv.ParseInt(fields[3], 10, 64); err == nil {
			f.size = n
		}
		files = append(files, f)
	}
	return newTree(files), nil
}

func (l *local) blobs(ctx context.Context, _ string, files []file, f func(file, []byte) error) error {
	if len(files) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := l.command(ctx, "cat-file", "--batch")
	var ask strings.Builder
	for _, file := range files {
		if err := checkSHA(file.blob); err != nil {
			return err
		}
		ask.WriteString(file.blob + "\n")
	}
	c.Stdin = strings.NewReader(ask.String())
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	err = readBatch(bufio.NewReaderSize(out, 64<<10), files, f)
	if err != nil {
		cancel()
		c.Wait()
		return err
	}
	return gitWait(ctx, c)
}

// gitWait waits for the end of a command.
func gitWait(ctx context.Context, c *exec.Cmd) error {
	if err := c.Wait(); err != nil {
		return gitError(ctx, "cat-file", err, "")
	}
	return nil
}

// readBatch reads what git cat-file --batch prints for files.
func readBatch(from *bufio.Reader, files []file, f func(file, []byte) error) error {
	var data []byte
	for _, file := range files {
		head, err := from.ReadString('\n')
		if err != nil {
			return fmt.Errorf("git cat-file: %w", err)
		}
		fields := strings.Fields(head)
		if len(fields) != 3 {
			return fmt.Errorf("git cat-file: %s: the clone lacks %s", file.name, strings.TrimSpace(head))
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || size > 2*largest {
			return fmt.Errorf("git cat-file: %s has %s bytes", file.name, fields[2])
		}
		if cap(data) < size+1 {
			data = make([]byte, size+1)
		}
		data = data[:size+1] // and a line feed
		if _, err := io.ReadFull(from, data); err != nil {
			return fmt.Errorf("git cat-file: %w", err)
		}
		if err := f(file, data[:size]); err != nil {
			return err
		}
	}
	return nil
}

// few is up to how many files are searched without asking git first which of them hold a string.
const few = 50

func (l *local) narrow(ctx context.Context, sha, literal string, files []file) ([]file, string, error) {
	if len(literal) < 2 || len(files) <= few || strings.ContainsAny(literal, "\n\r\x00\ufffd") {
		return files, "", nil
	}
	if err := checkSHA(sha); err != nil {
		return nil, "", err
	}
	out, err := l.output(ctx, "grep", "--no-color", "--no-textconv", "--no-recurse-submodules", "--full-name", "-l", "-z", "-a", "-F", "-e", literal, sha)
	if exited(err, 1) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	holds := map[string]bool{}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		holds[strings.TrimPrefix(string(name), sha+":")] = true
	}
	var some []file
	for _, f := range files {
		if holds[f.name] {
			some = append(some, f)
		}
	}
	return some, "", nil
}
