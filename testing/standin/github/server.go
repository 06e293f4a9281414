package github

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options configures a Server. Repos is required.
type Options struct {
	Repos map[string]string // folders of git repositories by owner/name. Branches and commits that a client makes are made in them
	Token string            // that clients must send; empty: any
	Limit int               // calls in an hour; 0: 5000
	Now   func() time.Time  // nil: time.Now
}

// A Server is a stand-in for api.github.com. It is safe for concurrent use.
type Server struct {
	opts Options
	api  *description
	mux  *http.ServeMux

	mu     sync.Mutex
	calls  map[string]int
	faults []Fault
	spent  map[string]*quota
	repos  map[string]*repo // by owner/name in lower case
}

// New returns a server. An error names the repository that is wrong.
func New(o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Limit == 0 {
		o.Limit = 5000
	}
	if len(o.Repos) == 0 {
		return nil, errors.New("a stand-in for GitHub needs a repository")
	}
	s := &Server{opts: o, mux: http.NewServeMux(), calls: map[string]int{}, spent: map[string]*quota{}, repos: map[string]*repo{}}
	for name, dir := range o.Repos {
		r, err := openRepo(name, dir)
		if err != nil {
			return nil, fmt.Errorf("repository %s: %w", name, err)
		}
		s.repos[strings.ToLower(name)] = r
	}
	var err error
	if s.api, err = described(); err != nil {
		return nil, err
	}
	s.routes()
	return s, nil
}

// Calls returns how often each operation was called, by the name that GitHub's description gives it, such as "git/get-blob". Calls that were refused
// count as well. The download of an archive, which GitHub serves from another address, is "codeload".
func (s *Server) Calls() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

// Total returns how many calls there were in all, downloads of archives left out: GitHub does not count them.
func (s *Server) Total() (n int) {
	for name, calls := range s.Calls() {
		if name != "codeload" {
			n += calls
		}
	}
	return n
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// routes says which operation each request is for. What a path says behind its last fixed part may have slashes.
func (s *Server) routes() {
	const at = "/repos/{owner}/{repo}"
	s.handle("GET /user", "/user", (*call).user)
	s.handle("GET /rate_limit", "/rate_limit", (*call).rates)
	s.handle("GET "+at, at, (*call).about)
	s.handle("GET "+at+"/commits", at+"/commits", (*call).listCommits)
	s.handle("GET "+at+"/commits/{ref...}", at+"/commits/{ref}", (*call).getCommit)
	s.handle("GET "+at+"/compare/{basehead...}", at+"/compare/{basehead}", (*call).compare)
	s.handle("GET "+at+"/contents/{path...}", at+"/contents/{path}", (*call).contents)
	s.handle("GET "+at+"/git/trees/{tree_sha}", at+"/git/trees/{tree_sha}", (*call).getTree)
	s.handle("GET "+at+"/git/blobs/{file_sha}", at+"/git/blobs/{file_sha}", (*call).getBlob)
	s.handle("POST "+at+"/git/blobs", at+"/git/blobs", (*call).newBlob)
	s.handle("POST "+at+"/git/trees", at+"/git/trees", (*call).newTree)
	s.handle("POST "+at+"/git/commits", at+"/git/commits", (*call).newCommit)
	s.handle("POST "+at+"/git/refs", at+"/git/refs", (*call).newRef)
	s.handle("GET "+at+"/tarball/{ref...}", at+"/tarball/{ref}", (*call).tarball)
	s.handle("GET /search/code", "/search/code", (*call).searchCode)
	s.handle("GET /search/issues", "/search/issues", (*call).searchIssues)
	s.handle("GET "+at+"/issues", at+"/issues", (*call).listIssues)
	s.handle("POST "+at+"/issues", at+"/issues", (*call).newIssue)
	s.handle("GET "+at+"/issues/{issue_number}", at+"/issues/{issue_number}", (*call).getIssue)
	s.handle("PATCH "+at+"/issues/{issue_number}", at+"/issues/{issue_number}", (*call).editIssue)
	s.handle("GET "+at+"/issues/{issue_number}/comments", at+"/issues/{issue_number}/comments", (*call).listComments)
	s.handle("POST "+at+"/issues/{issue_number}/comments", at+"/issues/{issue_number}/comments", (*call).newComment)
	s.handle("POST "+at+"/issues/{issue_number}/labels", at+"/issues/{issue_number}/labels", (*call).addLabels)
	s.handle("GET "+at+"/pulls", at+"/pulls", (*call).listPulls)
	s.handle("POST "+at+"/pulls", at+"/pulls", (*call).newPull)
	s.handle("GET "+at+"/pulls/{pull_number}", at+"/pulls/{pull_number}", (*call).getPull)
	s.mux.HandleFunc("GET /codeload/{owner}/{repo}/{sha}", s.codeload)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.write(w, r, quotaCore, http.StatusNotFound, notFound().body(), nil)
	})
}
