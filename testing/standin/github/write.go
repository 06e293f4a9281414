package github

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// newBlob keeps contents.
func (c *call) newBlob() (int, any, *apiError) {
	b, bad := read[struct{ Content, Encoding string }](c)
	if bad != nil {
		return 0, nil, bad
	}
	data := []byte(b.Content)
	if b.Encoding == "base64" {
		var err error
		if data, err = base64.StdEncoding.DecodeString(b.Content); err != nil {
			return 0, nil, invalid("content is not valid Base64")
		}
	}
	sha, err := c.repo.git(nil, data, "hash-object", "-w", "--stdin")
	if err != nil {
		return 0, nil, internal(err)
	}
	sha = strings.TrimSpace(sha)
	return http.StatusCreated, object{"sha": sha, "url": c.api("/git/blobs/" + sha)}, nil
}

// A treeBody is what is sent to make a tree.
type treeBody struct {
	Base string `json:"base_tree"`
	Tree []treeEntry
}

// A treeEntry is what differs: a blob by its SHA or as text; without both, the file goes.
type treeEntry struct {
	Path, Mode, Type string
	SHA              *string
	Content          *string
}

// newTree makes a tree of another one and what differs.
func (c *call) newTree() (int, any, *apiError) {
	b, bad := read[treeBody](c)
	if bad != nil {
		return 0, nil, bad
	}
	dir, err := os.MkdirTemp("", "standin-")
	if err != nil {
		return 0, nil, internal(err)
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if b.Base != "" {
		if !fullSHA.MatchString(b.Base) {
			return 0, nil, invalid("base_tree is not a valid tree oid")
		}
		if _, err := c.repo.git(env, nil, "read-tree", b.Base); err != nil {
			return 0, nil, notFound()
		}
	}
	for _, e := range b.Tree {
		if bad := c.put(env, &e); bad != nil {
			return 0, nil, bad
		}
	}
	sha, err := c.repo.git(env, nil, "write-tree")
	if err != nil {
		return 0, nil, invalid("GitRPC::BadObjectState")
	}
	sha = strings.TrimSpace(sha)
	entries, err := c.repo.tree(sha, false)
	if err != nil {
		return 0, nil, internal(err)
	}
	out := []object{}
	for _, e := range entries {
		out = append(out, object{"path": e.name, "mode": e.mode, "type": e.kind, "sha": e.sha})
	}
	return http.StatusCreated, object{"sha": sha, "url": c.api("/git/trees/" + sha), "truncated": false, "tree": out}, nil
}

// put writes an entry into an index, which env names.
func (c *call) put(env []string, e *treeEntry) *apiError {
	sha := ""
	var err error
	switch {
	case e.SHA != nil:
		sha = *e.SHA
	case e.Content != nil:
		if sha, err = c.repo.git(nil, []byte(*e.Content), "hash-object", "-w", "--stdin"); err != nil {
			return internal(err)
		}
	}
	if sha = strings.TrimSpace(sha); sha == "" {
		_, err = c.repo.git(env, nil, "update-index", "--force-remove", "--", e.Path)
	} else {
		_, err = c.repo.git(env, []byte(e.Mode+" "+sha+"\t"+e.Path+"\x00"), "update-index", "-z", "--index-info")
	}
	if err != nil {
		return invalid("tree.sha %s is not a valid blob", sha)
	}
	return nil
}

// A commitBody is what is sent to make a commit.
type commitBody struct {
	Message string
	Tree    string
	Parents []string
	Author  *struct {
		Name, Email string
		Date        time.Time
	}
}

func (c *call) newCommit() (int, any, *apiError) {
	b, bad := read[commitBody](c)
	if bad != nil {
		return 0, nil, bad
	}
	args := []string{"commit-tree", b.Tree}
	for _, sha := range append(slices.Clone(b.Parents), b.Tree) {
		if !fullSHA.MatchString(sha) {
			return 0, nil, invalid("%s is not a valid object", sha)
		}
	}
	for _, p := range b.Parents {
		args = append(args, "-p", p)
	}
	name, email, at := "decant-triage", "decant-triage@users.noreply.github.com", c.s.opts.Now()
	if b.Author != nil {
		name, email = b.Author.Name, b.Author.Email
		if !b.Author.Date.IsZero() {
			at = b.Author.Date
		}
	}
	when := strconv.FormatInt(at.Unix(), 10) + " +0000"
	env := []string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email, "GIT_COMMITTER_DATE=" + when}
	sha, err := c.repo.git(env, []byte(b.Message), args...)
	if err != nil {
		return 0, nil, invalid("Tree SHA does not exist")
	}
	all, err := c.repo.commits("-1", strings.TrimSpace(sha))
	if err != nil || len(all) != 1 {
		return 0, nil, internal(err)
	}
	listed := c.commit(all[0])
	out := listed["commit"].(object)
	for _, name := range []string{"sha", "node_id", "parents", "html_url"} {
		out[name] = listed[name]
	}
	delete(out, "comment_count")
	return http.StatusCreated, out, nil
}

func (c *call) newRef() (int, any, *apiError) {
	b, bad := read[struct{ Ref, SHA string }](c)
	if bad != nil {
		return 0, nil, bad
	}
	if !strings.HasPrefix(b.Ref, "refs/heads/") && !strings.HasPrefix(b.Ref, "refs/tags/") || !plainRef.MatchString(b.Ref) {
		return 0, nil, invalid("Reference name must start with 'refs/' and have at least two slashes.")
	}
	if sha, ok := c.repo.resolve(b.SHA); !ok || sha != b.SHA {
		return 0, nil, invalid("Object does not exist")
	}
	if _, err := c.repo.git(nil, nil, "rev-parse", "--verify", "--quiet", b.Ref); err == nil {
		return 0, nil, invalid("Reference already exists")
	}
	if _, err := c.repo.git(nil, nil, "update-ref", b.Ref, b.SHA, strings.Repeat("0", 40)); err != nil {
		return 0, nil, invalid("Reference update failed")
	}
	return http.StatusCreated, object{"ref": b.Ref, "url": c.api("/git/" + b.Ref), "object": object{"type": "commit", "sha": b.SHA, "url": c.api("/git/commits/" + b.SHA)}}, nil
}

// A pullBody is what is sent to open a pull request.
type pullBody struct {
	Title, Head, Base, Body string
	Draft                   bool
}

func (c *call) newPull() (int, any, *apiError) {
	b, bad := read[pullBody](c)
	if bad != nil {
		return 0, nil, bad
	}
	failed := func(field, message string) *apiError {
		return &apiError{status: http.StatusUnprocessableEntity, message: "Validation Failed",
			errors: []object{{"resource": "PullRequest", "field": field, "code": "invalid", "message": message}}}
	}
	owner, _, _ := strings.Cut(c.repo.name, "/")
	b.Head = strings.TrimPrefix(b.Head, owner+":")
	head, ok := c.repo.resolve("heads/" + b.Head)
	if !ok {
		return 0, nil, failed("head", "head is invalid")
	}
	base, ok := c.repo.resolve("heads/" + b.Base)
	if !ok {
		return 0, nil, failed("base", "base is invalid")
	}
	if ahead, err := c.repo.commits(head, "^"+base); err != nil || len(ahead) == 0 {
		return 0, nil, failed("head", "No commits between "+b.Base+" and "+b.Head)
	}
	c.repo.mu.Lock()
	defer c.repo.mu.Unlock()
	for _, i := range c.repo.issues {
		if i.head == b.Head && i.base == b.Base && i.state == "open" {
			return 0, nil, failed("head", "A pull request already exists for "+owner+":"+b.Head+".")
		}
	}
	now := c.s.opts.Now()
	i := &issue{number: len(c.repo.issues) + 1, title: b.Title, body: b.Body, state: "open", created: now, updated: now, head: b.Head, base: b.Base, draft: b.Draft}
	c.repo.issues = append(c.repo.issues, i)
	return http.StatusCreated, c.pull(i), nil
}

// pull returns a pull request as GitHub sends it.
func (c *call) pull(i *issue) object {
	o := c.issue(i)
	delete(o, "pull_request")
	delete(o, "comments")
	at := strconv.Itoa(i.number)
	o["url"], o["html_url"], o["draft"] = c.api("/pulls/"+at), c.html("/pull/"+at), i.draft
	owner, _, _ := strings.Cut(c.repo.name, "/")
	side := func(branch string) object {
		sha, _ := c.repo.resolve("heads/" + branch)
		return object{"label": owner + ":" + branch, "ref": branch, "sha": sha, "repo": object{"full_name": c.repo.name}, "user": object{"login": owner}}
	}
	o["head"], o["base"], o["merged"] = side(i.head), side(i.base), i.merged
	if i.merged {
		o["merged_at"] = o["closed_at"]
	}
	return o
}

func (c *call) listPulls() (int, any, *apiError) {
	c.repo.mu.Lock()
	defer c.repo.mu.Unlock()
	q := c.r.URL.Query()
	state := q.Get("state")
	if state == "" {
		state = "open"
	}
	var found []*issue
	for _, i := range slices.Backward(c.repo.issues) {
		_, head, _ := strings.Cut(q.Get("head"), ":")
		if i.head != "" && (state == "all" || state == i.state) && (q.Get("head") == "" || head == i.head) {
			found = append(found, i)
		}
	}
	out := []object{}
	for _, i := range page(c, found) {
		out = append(out, c.pull(i))
	}
	return http.StatusOK, out, nil
}

func (c *call) getPull() (int, any, *apiError) {
	c.repo.mu.Lock()
	defer c.repo.mu.Unlock()
	i, err := c.find("pull_number")
	if err == nil && i.head == "" {
		err = notFound()
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.pull(i), nil
}

// Merge merges a pull request, as a person would on the page: its base comes to where its head is.
func (s *Server) Merge(repo string, number int) error {
	r := s.repos[strings.ToLower(repo)]
	if r == nil {
		return fmt.Errorf("there is no repository %s", repo)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if number < 1 || number > len(r.issues) || r.issues[number-1].head == "" || r.issues[number-1].state != "open" {
		return fmt.Errorf("%s has no open pull request %d", repo, number)
	}
	i := r.issues[number-1]
	head, ok := r.resolve("heads/" + i.head)
	base, there := r.resolve("heads/" + i.base)
	if !ok || !there {
		return fmt.Errorf("%s has no branch %s or %s", repo, i.head, i.base)
	}
	if _, err := r.git(nil, nil, "merge-base", "--is-ancestor", base, head); err != nil {
		return fmt.Errorf("%s is not behind %s", i.base, i.head)
	}
	if _, err := r.git(nil, nil, "update-ref", "refs/heads/"+i.base, head, base); err != nil {
		return err
	}
	i.state, i.merged, i.updated = "closed", true, s.opts.Now()
	return nil
}
