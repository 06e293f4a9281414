package github

import (
	"encoding/base64"
	"net/http"
	"path"
	"slices"
	"strings"
)

// internal returns the refusal for something that has gone wrong here.
func internal(err error) *apiError {
	return &apiError{status: http.StatusInternalServerError, message: err.Error()}
}

func (c *call) user() (int, any, *apiError) {
	return http.StatusOK, object{"login": "decant-triage", "id": 1, "type": "User"}, nil
}

// api returns the address of something below the repository.
func (c *call) api(rest string) string { return c.base() + "/repos/" + c.repo.name + rest }

// html returns the address of something for people.
func (c *call) html(rest string) string { return "https://github.com/" + c.repo.name + rest }

func (c *call) about() (int, any, *apiError) {
	owner, name, _ := strings.Cut(c.repo.name, "/")
	return http.StatusOK, object{"id": 1, "name": name, "full_name": c.repo.name, "private": true, "default_branch": c.repo.branch, "has_issues": true, "url": c.api(""), "html_url": c.html(""),
		"owner": object{"login": owner, "id": 2, "type": "Organization"}}, nil
}

// commit returns a commit as it is listed.
func (c *call) commit(i commitInfo) object {
	parents := []object{}
	for _, p := range i.parents {
		parents = append(parents, object{"sha": p, "url": c.api("/commits/" + p), "html_url": c.html("/commit/" + p)})
	}
	return object{"sha": i.sha, "node_id": "C_" + i.sha, "url": c.api("/commits/" + i.sha), "html_url": c.html("/commit/" + i.sha), "author": nil, "committer": nil, "parents": parents,
		"commit": object{"author": i.author, "committer": i.committer, "message": i.message, "comment_count": 0, "url": c.api("/git/commits/" + i.sha),
			"tree": object{"sha": i.tree, "url": c.api("/git/trees/" + i.tree)}}}
}

func (c *call) listCommits() (int, any, *apiError) {
	q := c.r.URL.Query()
	ref := q.Get("sha")
	if ref == "" {
		ref = c.repo.branch
	}
	sha, ok := c.repo.resolve(ref)
	if !ok {
		return 0, nil, notFound()
	}
	var args []string
	for _, name := range []string{"since", "until"} {
		if v := q.Get(name); v != "" {
			args = append(args, "--"+name+"="+v)
		}
	}
	args = append(args, sha, "--")
	if p := q.Get("path"); p != "" {
		args = append(args, p)
	}
	all, err := c.repo.commits(args...)
	if err != nil {
		return 0, nil, internal(err)
	}
	out := []object{}
	for _, i := range page(c, all) {
		out = append(out, c.commit(i))
	}
	return http.StatusOK, out, nil
}

func (c *call) getCommit() (int, any, *apiError) {
	sha, ok := c.repo.resolve(c.path["ref"])
	if !ok {
		return 0, nil, invalid("No commit found for SHA: %s", c.path["ref"])
	}
	if strings.Contains(c.r.Header.Get("Accept"), "sha") {
		return http.StatusOK, raw{kind: "application/vnd.github.sha; charset=utf-8", data: []byte(sha)}, nil
	}
	all, err := c.repo.commits("-1", sha)
	if err != nil || len(all) != 1 {
		return 0, nil, internal(err)
	}
	parent := ""
	if len(all[0].parents) > 0 {
		parent = all[0].parents[0]
	}
	files, err := c.repo.diff(parent, sha)
	if err != nil {
		return 0, nil, internal(err)
	}
	out := c.commit(all[0])
	var added, removed int
	for _, f := range files {
		added, removed = added+f.added, removed+f.removed
	}
	out["files"] = c.files(sha, files)
	out["stats"] = object{"additions": added, "deletions": removed, "total": added + removed}
	return http.StatusOK, out, nil
}

// files returns files of a diff.
func (c *call) files(sha string, files []diffFile) []object {
	out := []object{}
	for _, f := range files {
		o := object{"sha": f.blob, "filename": f.name, "status": f.status, "additions": f.added, "deletions": f.removed, "changes": f.added + f.removed,
			"blob_url": c.html("/blob/" + sha + "/" + f.name), "raw_url": c.html("/raw/" + sha + "/" + f.name), "contents_url": c.api("/contents/" + f.name + "?ref=" + sha)}
		if f.patch != "" {
			o["patch"] = f.patch
		}
		if f.old != "" {
			o["previous_filename"] = f.old
		}
		out = append(out, o)
	}
	return out
}

func (c *call) compare() (int, any, *apiError) {
	base, head, ok := strings.Cut(c.path["basehead"], "...")
	from, okBase := c.repo.resolve(base)
	to, okHead := c.repo.resolve(head)
	if !ok || !okBase || !okHead {
		return 0, nil, notFound()
	}
	merge, err := c.repo.git(nil, nil, "merge-base", from, to)
	if err != nil {
		return 0, nil, notFound() // GitHub says this of histories that have nothing in common
	}
	merge = strings.TrimSpace(merge)
	ahead, err := c.repo.commits("--reverse", to, "^"+from)
	behind, err2 := c.repo.commits(from, "^"+to)
	bases, err3 := c.repo.commits("-1", from)
	merges, err4 := c.repo.commits("-1", merge)
	files, err5 := c.repo.diff(merge, to)
	for _, err := range []error{err, err2, err3, err4, err5} {
		if err != nil {
			return 0, nil, internal(err)
		}
	}
	status := "identical"
	switch {
	case len(ahead) > 0 && len(behind) > 0:
		status = "diverged"
	case len(ahead) > 0:
		status = "ahead"
	case len(behind) > 0:
		status = "behind"
	}
	commits := []object{}
	for _, i := range page(c, ahead) {
		commits = append(commits, c.commit(i))
	}
	return http.StatusOK, object{"status": status, "ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead), "commits": commits, "files": c.files(to, files),
		"base_commit": c.commit(bases[0]), "merge_base_commit": c.commit(merges[0])}, nil
}

func (c *call) getTree() (int, any, *apiError) {
	sha := c.path["tree_sha"]
	if !fullSHA.MatchString(sha) {
		var ok bool
		if sha, ok = c.repo.resolve(sha); !ok {
			return 0, nil, notFound()
		}
	}
	recursive := c.r.URL.Query().Has("recursive")
	entries, err := c.repo.tree(sha, recursive)
	if err != nil {
		return 0, nil, notFound()
	}
	const mostEntries = 100_000
	out := []object{}
	for _, e := range entries[:min(len(entries), mostEntries)] {
		o := object{"path": e.name, "mode": e.mode, "type": e.kind, "sha": e.sha, "url": c.api("/git/" + e.kind + "s/" + e.sha)}
		if e.kind == "blob" {
			o["size"] = e.size
		}
		out = append(out, o)
	}
	return http.StatusOK, object{"sha": sha, "url": c.api("/git/trees/" + sha), "truncated": len(entries) > mostEntries, "tree": out}, nil
}

// blob returns the contents of a blob.
func (r *repo) blob(sha string) ([]byte, bool) {
	if !fullSHA.MatchString(sha) {
		return nil, false
	}
	text, err := r.git(nil, nil, "cat-file", "blob", sha)
	return []byte(text), err == nil
}

func (c *call) getBlob() (int, any, *apiError) {
	sha := c.path["file_sha"]
	data, ok := c.repo.blob(sha)
	if !ok {
		return 0, nil, notFound()
	}
	if strings.Contains(c.r.Header.Get("Accept"), "raw") {
		return http.StatusOK, raw{kind: "application/vnd.github.raw; charset=utf-8", data: data}, nil
	}
	return http.StatusOK, object{"sha": sha, "size": len(data), "url": c.api("/git/blobs/" + sha), "encoding": "base64", "content": base64.StdEncoding.EncodeToString(data)}, nil
}

func (c *call) contents() (int, any, *apiError) {
	ref := c.r.URL.Query().Get("ref")
	if ref == "" {
		ref = c.repo.branch
	}
	sha, ok := c.repo.resolve(ref)
	if !ok {
		return 0, nil, &apiError{status: http.StatusNotFound, message: "No commit found for the ref " + ref}
	}
	name := strings.Trim(path.Clean("/"+c.path["path"]), "/")
	all, err := c.repo.tree(sha, true)
	if err != nil {
		return 0, nil, internal(err)
	}
	below := []object{}
	for _, e := range all {
		switch dir := strings.TrimPrefix(path.Dir("/"+e.name), "/"); {
		case e.name == name && e.kind == "blob":
			return c.file(e, sha)
		case dir == name:
			below = append(below, c.content(e, sha))
		}
	}
	if len(below) == 0 {
		return 0, nil, notFound()
	}
	return http.StatusOK, below, nil
}

// content returns an entry of a directory.
func (c *call) content(e entry, sha string) object {
	kind := map[string]string{"blob": "file", "tree": "dir", "commit": "submodule"}[e.kind]
	return object{"type": kind, "name": path.Base(e.name), "path": e.name, "sha": e.sha, "size": e.size, "url": c.api("/contents/" + e.name + "?ref=" + sha),
		"html_url": c.html("/blob/" + sha + "/" + e.name), "git_url": c.api("/git/" + e.kind + "s/" + e.sha), "download_url": nil}
}

// file answers with a file.
func (c *call) file(e entry, sha string) (int, any, *apiError) {
	data, ok := c.repo.blob(e.sha)
	if !ok {
		return 0, nil, notFound()
	}
	if strings.Contains(c.r.Header.Get("Accept"), "raw") {
		return http.StatusOK, raw{kind: "application/vnd.github.raw; charset=utf-8", data: data}, nil
	}
	o := c.content(e, sha)
	o["encoding"], o["content"] = "base64", base64.StdEncoding.EncodeToString(data)
	return http.StatusOK, o, nil
}

// tarball leads to where the archive is, which is another address at GitHub, too.
func (c *call) tarball() (int, any, *apiError) {
	ref := c.path["ref"]
	if ref == "" {
		ref = c.repo.branch
	}
	sha, ok := c.repo.resolve(ref)
	if !ok {
		return 0, nil, notFound()
	}
	c.header.Set("Location", c.base()+"/codeload/"+c.repo.name+"/"+sha)
	return http.StatusFound, nil, nil
}

// codeload sends an archive.
func (s *Server) codeload(w http.ResponseWriter, r *http.Request) {
	s.count("codeload")
	if r.Header.Get("Authorization") != "" {
		http.Error(w, "the token of the API was sent to another address", http.StatusBadRequest)
		return
	}
	repo := s.repos[strings.ToLower(r.PathValue("owner")+"/"+r.PathValue("repo"))]
	sha := r.PathValue("sha")
	if repo == nil || !fullSHA.MatchString(sha) {
		http.NotFound(w, r)
		return
	}
	data, err := repo.git(nil, nil, "archive", "--format=tar.gz", "--prefix="+strings.ReplaceAll(repo.name, "/", "-")+"-"+sha[:7]+"/", sha)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-gzip")
	w.Write([]byte(data))
}

// searchCode finds a string in the default branch.
func (c *call) searchCode() (int, any, *apiError) {
	q := parseQuery(c.r.URL.Query().Get("q"))
	var found []object
	if len(q.words) == 0 || len(q.repos) == 0 {
		return 0, nil, &apiError{status: http.StatusUnprocessableEntity, message: "Validation Failed",
			errors: []object{{"message": "Must include text to search for and at least one user, organization, or repository", "resource": "Search", "field": "q", "code": "invalid"}}}
	}
	for _, name := range q.repos {
		r := c.s.repos[strings.ToLower(name)]
		if r == nil {
			return 0, nil, &apiError{status: http.StatusUnprocessableEntity, message: "Validation Failed",
				errors: []object{{"message": "The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.", "resource": "Search", "field": "q", "code": "invalid"}}}
		}
		c.repo = r
		text, err := r.git(nil, nil, "grep", "-l", "-z", "-i", "-F", "-I", "-e", q.words[0], r.branch)
		if err != nil && !strings.Contains(err.Error(), "exit status 1") {
			return 0, nil, internal(err)
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(text, "\x00"), "\x00") {
			if name = strings.TrimPrefix(name, r.branch+":"); name != "" && (q.path == "" || strings.HasPrefix(name, q.path)) {
				found = append(found, object{"name": path.Base(name), "path": name, "repository": object{"full_name": r.name}, "html_url": c.html("/blob/" + r.branch + "/" + name)})
			}
		}
	}
	items := slices.Clone(page(c, found))
	if items == nil {
		items = []object{}
	}
	return http.StatusOK, object{"total_count": len(found), "incomplete_results": false, "items": items}, nil
}
