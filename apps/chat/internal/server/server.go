package chatserver

import (
	"cmp"
	"context"
	_ "embed" // for openapi.yaml
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/front"
	"github.com/decantdev/decant/internal/keyring"
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
	Rules      permission.Rules                          // for the calls of all agents; a workspace may allow more
	Keys       *keyring.Ring                             // that users have; nil: everybody is the one local user
	Catalog    *token.Catalog                            // of models; nil: the built-in one
	SessionUSD float64                                   // what a session may cost; 0: no limit
	MaxBody    int64                                     // bytes of the largest request; 0: 32 MB
	Memory     int64                                     // bytes that requests may take at once; 0: 1 GB
	Hosts      []string                                  // names under which the service may be reached, beside loopback addresses; nil: any, for tests
	Workspaces Workspaces                                // folders of files for sessions; zero: there are none
	Page       http.Handler                              // what is served where the API has no path; nil: nothing
	Logger     *slog.Logger                              // nil: nothing is logged
	Now        func() time.Time                          // nil: time.Now
}

// A Server is the service. It is safe for concurrent use.
type Server struct {
	opts    *Options
	door    *door
	handler http.Handler
	rooms   *rooms
	service front.Service
}

// New returns a server. An error says which option is wrong.
func New(o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	d, err := newDoor(&o)
	if err != nil {
		return nil, err
	}
	f, err := newFolders(&o, d)
	if err != nil {
		return nil, err
	}
	agents := &agentBook{opts: &o, records: f.records, folders: f, limits: &limits{&o}, leases: newLeases(&o)}
	offered, err := agents.tools("")
	if err == nil {
		err = agents.check(&o.Default, offered)
	}
	if err != nil {
		return nil, err
	}
	s := &Server{opts: &o, door: d, rooms: newRooms(agents)}
	s.service.Ready, s.service.Closing = o.Store.Ping, s.rooms.close
	s.handler = s.routes()
	return s, nil
}

// A handler answers a request of a user. Its error becomes the answer, if nothing was sent yet.
type handler func(w http.ResponseWriter, r *http.Request, tenant string) error

// paths returns what answers at which path, behind /v1 or not.
func (s *Server) paths() map[string]handler {
	var (
		agents      = &agentAPI{s.rooms.agents, s.rooms}
		sessions    = &sessionAPI{s.rooms}
		messages    = &messageAPI{s.rooms}
		contexts    = &contextAPI{s.rooms}
		files       = &fileAPI{s.rooms}
		memories    = &memoryAPI{s.rooms.records}
		completions = &completionAPI{s.rooms.agents}
		trials      = &whatifAPI{s.rooms}
	)
	return map[string]handler{
		"GET /agents":                          agents.listAgents,
		"POST /agents":                         agents.postAgent,
		"GET /agents/{name}":                   agents.getAgent,
		"DELETE /agents/{name}":                agents.deleteAgent,
		"GET /sessions":                        sessions.listSessions,
		"POST /sessions":                       sessions.postSession,
		"GET /sessions/{id}":                   sessions.getSession,
		"PATCH /sessions/{id}":                 sessions.patchSession,
		"DELETE /sessions/{id}":                sessions.deleteSession,
		"GET /sessions/{id}/messages":          messages.getMessages,
		"POST /sessions/{id}/messages":         messages.postMessage,
		"GET /sessions/{id}/messages/{n}/why":  messages.getWhy,
		"GET /sessions/{id}/events":            messages.getEvents,
		"POST /sessions/{id}/stop":             messages.postStop,
		"POST /sessions/{id}/continue":         messages.postContinue,
		"POST /sessions/{id}/rewind":           messages.postRewind,
		"POST /sessions/{id}/fork":             messages.postFork,
		"POST /sessions/{id}/what-if":          trials.postWhatIf,
		"POST /sessions/{id}/keep":             trials.postKeep,
		"POST /sessions/{id}/approvals/{call}": messages.postApproval,
		"GET /sessions/{id}/context":           contexts.getContext,
		"POST /sessions/{id}/pour":             contexts.postPour,
		"POST /sessions/{id}/undo":             contexts.postUndo,
		"GET /sessions/{id}/export":            messages.getExport,
		"GET /memory":                          memories.listMemory,
		"DELETE /memory":                       memories.deleteMemories,
		"DELETE /memory/{id}":                  memories.deleteMemory,
		"GET /models":                          completions.listModels,
		"POST /chat/completions":               completions.postCompletion,

		"GET /sessions/{id}/files":              files.listFiles,
		"GET /sessions/{id}/files/{path...}":    files.getFile,
		"PUT /sessions/{id}/files/{path...}":    files.putFile,
		"DELETE /sessions/{id}/files/{path...}": files.deleteFile,
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
	defer s.service.Enter()()
	if s.service.Health(w, r) {
		return
	}
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
			var c *claim
			r, c, err = s.rooms.claimed(r.WithContext(withPass(r.Context(), u.pass)), u.Tenant)
			defer s.rooms.end(c)
		}
		if err == nil {
			err = h(w, r, u.Tenant)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	})
}

// errClosing means that nothing new begins.
var errClosing = &apiError{http.StatusServiceUnavailable, "closing", "the service is about to end; try again in a moment"}

// Continue has the runs of all tenants go on that were under way when a service on the database ended, now and whenever another
// one ends. Nobody waits for that. It leaves runs alone that another service has under way. An error says why none goes on yet;
// the server tries again.
func (s *Server) Continue() error {
	rooms, tick := s.rooms, time.NewTicker(leaseEvery)
	err := rooms.tended(rooms.ctx)
	rooms.tending.Go(func() {
		defer tick.Stop()
		rooms.tend(rooms.ctx, tick.C)
	})
	return err
}

// Serve answers requests on a listener until the context ends. Then nothing new begins. It waits for runs under way for at
// most drain, and interrupts those that are left; what came of them stays.
func (s *Server) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	return s.service.Serve(ctx, l, s, s.opts.Logger, drain)
}

// Close ends runs as Serve does, for a server that serves elsewhere: it waits for them until ctx is done.
func (s *Server) Close(ctx context.Context) error {
	s.rooms.close(ctx)
	return nil
}
