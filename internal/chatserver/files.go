package chatserver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/internal/workspace"
)

// A folderList is the files of a session, as openapi.yaml describes it.
type folderList struct {
	Files []workspace.File `json:"files"`
	Bytes int64            `json:"bytes"`
	Count int              `json:"count"` // with folders and links
	Most  struct {
		Bytes int64 `json:"bytes"`
		Count int   `json:"count"`
	} `json:"most"`
}

// folderOf returns the room of a request and the name of its folder, which is empty where the session has none yet.
func (s *Server) folderOf(r *http.Request, tenant string) (rm *room, name string, err error) {
	if rm, err = s.roomOf(r, tenant); err != nil {
		return nil, "", err
	}
	has := rm.session.Label(labelFolder) != ""
	switch {
	case s.workspaces == nil:
		return nil, "", &apiError{http.StatusConflict, "no_workspace", "this service gives agents no files; whoever runs it can start it with --workspaces DIR"}
	case !has && rm.desk == nil:
		return nil, "", &apiError{http.StatusConflict, "no_workspace", "the agent of this session has no workspace: POST /agents can give it one"}
	case has:
		name, err = s.folder(rm.session)
	}
	return rm, name, err
}

// fileError returns what a client is told of an error about a file.
func fileError(file string, err error) error {
	switch {
	case errors.Is(err, workspace.ErrPath):
		return invalid(err)
	case errors.Is(err, workspace.ErrKind):
		return &apiError{http.StatusBadRequest, "not_a_file", err.Error() + ": folders, links and devices are not shown"}
	case errors.Is(err, tools.ErrTooMuch):
		return &apiError{http.StatusInsufficientStorage, "full", err.Error()}
	case errors.Is(err, fs.ErrNotExist):
		return &apiError{http.StatusNotFound, "not_found", "there is no file " + file}
	}
	return err
}

func (s *Server) listFiles(w http.ResponseWriter, r *http.Request, tenant string) error {
	_, name, err := s.folderOf(r, tenant)
	if err != nil {
		return err
	}
	out := folderList{Files: []workspace.File{}}
	if name != "" {
		var sum tools.Amount
		if out.Files, sum, err = s.workspaces.List(name); err != nil {
			return err
		}
		out.Bytes, out.Count = sum.Bytes, sum.Files
	}
	most := s.workspaces.Most()
	out.Most.Bytes, out.Most.Count = most.Bytes, most.Files
	write(w, http.StatusOK, out)
	return nil
}

// getFile answers with what a file holds, to be saved: a browser shows nothing of it.
func (s *Server) getFile(w http.ResponseWriter, r *http.Request, tenant string) error {
	file := r.PathValue("path")
	_, name, err := s.folderOf(r, tenant)
	if err != nil {
		return err
	}
	if name == "" {
		return fileError(file, fs.ErrNotExist)
	}
	f, info, err := s.workspaces.Get(name, file)
	if err != nil {
		return fileError(file, err)
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(file)}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	w.WriteHeader(http.StatusOK)
	io.CopyN(w, f, info.Size()) // an error means that the client has left, or that the file was cut meanwhile
	return nil
}

// putFile makes the body what a file holds.
func (s *Server) putFile(w http.ResponseWriter, r *http.Request, tenant string) error {
	file := r.PathValue("path")
	rm, name, err := s.folderOf(r, tenant)
	if err == nil && name == "" {
		name, err = s.folder(rm.session)
	}
	if err != nil {
		return err
	}
	f, made, err := s.workspaces.Put(name, file, r.Body)
	if err != nil {
		return fileError(file, err)
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	write(w, status, f)
	return nil
}

func (s *Server) deleteFile(w http.ResponseWriter, r *http.Request, tenant string) error {
	file := r.PathValue("path")
	_, name, err := s.folderOf(r, tenant)
	if err != nil {
		return err
	}
	if name == "" {
		err = fmt.Errorf("%s: %w", file, fs.ErrNotExist)
	} else {
		err = s.workspaces.Delete(name, file)
	}
	if err != nil {
		return fileError(file, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
