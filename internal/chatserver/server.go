package chatserver

import (
	"cmp"
	"context"
	_ "embed" // for openapi.yaml
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway/keyring"
	"github.com/decantdev/decant/internal/front"
	"github.com/decantdev/decant/internal/workspace"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// description is the OpenAPI description of the service.
//
//go:embed openapi.yaml
var description []byte

// Options says what a Server works on. Store, Engine, Client and Default are required.
type Options struct {
	Store  store.Store
	Engine *engine.Engine
	Client provider.Speaker // that asks the models; it must not lead through Decant a second time

	Default    Agent                                     // of sessions that name no agent, until a user has his own of that name
	Tools      func(tenant string) ([]agent.Tool, error) // that the agents of a tenant may name, besides save_memory, recall and forget; nil: there are none
	Keys       *keyring.Ring                             // that users have; nil: everybody is the one local user
	Catalog    *token.Catalog                            // of models; nil: the built-in one
	SessionUSD float64                                   // what a session may cost; 0: no limit
	MaxBody    int64                                     // bytes of the largest request; 0: 32 MB
	Hosts      []string                                  // names under which the service may be reached, beside loopback addresses; nil: any, for tests
	Workspaces Workspaces                                // folders of files for sessions; zero: there are none
	Page       http.Handler                              // what is served where the API has no path; nil: nothing
	Logger     *slog.Logger                              // nil: nothing is logged
	Now        func() time.Time                          // nil: time.Now
}

// A Server is the service. It is safe for concurrent use.
type Server struct {
	opts    Options
	door    *door
	handler http.Handler
	stop    context.CancelFunc // of all runs
	runs    sync.WaitGroup
	ctx     context.Context // of runs, which outlive the requests that begin them

	workspaces *workspace.Store // nil: there are none
	claims     sync.Mutex       // held while a session gets its folder

	mu     sync.Mutex
	rooms  map[store.Key]*room
	closed bool
}

// New returns a server. An error says which option is wrong.
func New(o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{opts: o, rooms: map[store.Key]*room{}}
	var err error
	if s.door, err = newDoor(&s.opts); err != nil {
		return nil, err
	}
	if s.workspaces, err = s.openWorkspaces(); err != nil {
		return nil, err
	}
	tools, err := s.tools("")
	if err == nil {
		err = s.check(&o.Default, tools)
	}
	if err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.handler = s.routes()
	return s, nil
}

// A handler answers a request of a user. Its error becomes the answer, if nothing was sent yet.
type handler func(w http.ResponseWriter, r *http.Request, tenant string) error

// paths returns what answers at which path, behind /v1 or not.
func (s *Server) paths() map[string]handler {
	return map[string]handler{
		"GET /agents":                          s.listAgents,
		"POST /agents":                         s.postAgent,
		"GET /agents/{name}":                   s.getAgent,
		"DELETE /agents/{name}":                s.deleteAgent,
		"GET /sessions":                        s.listSessions,
		"POST /sessions":                       s.postSession,
		"GET /sessions/{id}":                   s.getSession,
		"PATCH /sessions/{id}":                 s.patchSession,
		"DELETE /sessions/{id}":                s.deleteSession,
		"GET /sessions/{id}/messages":          s.getMessages,
		"POST /sessions/{id}/messages":         s.postMessage,
		"GET /sessions/{id}/messages/{n}/why":  s.getWhy,
		"GET /sessions/{id}/events":            s.getEvents,
		"POST /sessions/{id}/stop":             s.postStop,
		"POST /sessions/{id}/continue":         s.postContinue,
		"POST /sessions/{id}/rewind":           s.postRewind,
		"POST /sessions/{id}/fork":             s.postFork,
		"POST /sessions/{id}/what-if":          s.postWhatIf,
		"POST /sessions/{id}/keep":             s.postKeep,
		"POST /sessions/{id}/approvals/{call}": s.postApproval,
		"GET /sessions/{id}/context":           s.getContext,
		"POST /sessions/{id}/pour":             s.postPour,
		"POST /sessions/{id}/undo":             s.postUndo,
		"GET /sessions/{id}/export":            s.getExport,
		"GET /memory":                          s.listMemory,
		"DELETE /memory":                       s.deleteMemories,
		"DELETE /memory/{id}":                  s.deleteMemory,
		"GET /models":                          s.listModels,
		"POST /chat/completions":               s.postCompletion,

		"GET /sessions/{id}/files":              s.listFiles,
		"GET /sessions/{id}/files/{path...}":    s.getFile,
		"PUT /sessions/{id}/files/{path...}":    s.putFile,
		"DELETE /sessions/{id}/files/{path...}": s.deleteFile,
	}
}

// routes returns all paths, each with and without /v1.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range s.paths() {
		method, path, _ := strings.Cut(pattern, " ")
		mux.Handle(method+" /v1"+path, s.admitted(h))
		mux.Handle(pattern, s.admitted(h))
	}
	for _, at := range []string{"/v1", ""} {
		mux.HandleFunc("GET "+at+"/me", s.getMe)
		mux.HandleFunc("POST "+at+"/login", func(w http.ResponseWriter, r *http.Request) {
			if err := s.door.login(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
		mux.HandleFunc("POST "+at+"/logout", s.door.logout)
		mux.HandleFunc("GET "+at+"/openapi.yaml", describe)
	}
	if s.opts.Page != nil {
		mux.Handle("GET /", s.opts.Page)
	}
	return mux
}

// describe serves the description of the service.
func describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	w.Write(description) // an error means that the client has left
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !s.door.named(r.Host) {
		write(w, http.StatusMisdirectedRequest, errorBody("host", "the service is not known under the name "+r.Host+": add it to the hosts of the settings"))
		return
	}
	r = front.Timed(w, r, front.BodyTime)
	r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(s.opts.MaxBody, mostBody))
	s.handler.ServeHTTP(w, r)
}

// mostBody is the size of the largest request, if nobody says otherwise: a message with images.
const mostBody = 32 << 20

// admitted returns a handler for those who may come in.
func (s *Server) admitted(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, err := s.door.admit(r)
		if err == nil {
			err = h(w, r.WithContext(withPass(r.Context(), u.pass)), u.Tenant)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	})
}

// Continue goes on with the runs that were under way when the service ended, of all tenants.
func (s *Server) Continue(ctx context.Context) error {
	tenants, err := s.opts.Store.Tenants(ctx)
	err = errors.Join(err, s.collect(ctx, tenants))
	for _, tenant := range tenants {
		js, fault := s.journals(ctx, tenant, sessionKind, time.Time{})
		err = errors.Join(err, fault)
		for i := range js {
			if sum, fault := summaryOf(&js[i]); fault != nil || !sum.Running || sum.Waiting || sum.Labels[labelAgent] == "" {
				err = errors.Join(err, fault)
				continue
			}
			rm, fault := s.room(ctx, js[i].Key)
			if fault == nil && rm.session.Interrupted() {
				_, fault = rm.begin(withPass(ctx, s.passFor(tenant)), rm.session.Continue)
			}
			err = errors.Join(err, fault)
		}
	}
	return err
}

// errClosing means that nothing new begins.
var errClosing = &apiError{http.StatusServiceUnavailable, "closing", "the service is about to end; try again in a moment"}

// aside does something that outlives the request, unless the service is about to end.
func (s *Server) aside(do func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosing
	}
	s.runs.Go(do)
	return nil
}

// Close ends the service: it waits for runs under way until ctx is done, and interrupts those that are left. What came of them stays.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.runs.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	s.stop()
	<-done
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rm := range s.rooms {
		rm.desk.leave()
	}
	return nil
}
