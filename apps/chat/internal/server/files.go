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
	"github.com/decantdev/decant/apps/chat/internal/workspace"
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

// fileAPI answers requests about the files of a session.
type fileAPI struct{ rooms *rooms }

// folderOf returns the room of a request and the name of its folder, which is empty where the session has none yet.
func (h *fileAPI) folderOf(r *http.Request, tenant string) (rm *room, name string, err error) {
	if rm, err = h.rooms.roomOf(r, tenant); err != nil {
		return nil, "", err
	}
	has := rm.session.Label(labelFolder) != ""
	switch {
	case h.rooms.folders.store == nil:
		return nil, "", &apiError{http.StatusConflict, "no_workspace", "this service gives agents no files; whoever runs it can start it with --workspaces DIR"}
	case !has && rm.desk == nil:
		return nil, "", &apiError{http.StatusConflict, "no_workspace", "the agent of this session has no workspace: POST /agents can give it one"}
	case has:
		name, err = h.rooms.folders.folder(rm.session)
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

func (h *fileAPI) listFiles(w http.ResponseWriter, r *http.Request, tenant string) error {
	_, name, err := h.folderOf(r, tenant)
	if err != nil {
		return err
	}
	out := folderList{Files: []workspace.File{}}
	if name != "" {
		var sum tools.Amount
		if out.Files, sum, err = h.rooms.folders.store.List(name); err != nil {
			return err
		}
		out.Bytes, out.Count = sum.Bytes, sum.Files
	}
	most := h.rooms.folders.store.Most()
	out.Most.Bytes, out.Most.Count = most.Bytes, most.Files
	write(w, http.StatusOK, out)
	return nil
}

// getFile answers with what a file holds, to be saved: a browser shows nothing of it.
func (h *fileAPI) getFile(w http.ResponseWriter, r *http.Request, tenant string) error {
	file := r.PathValue("path")
	_, name, err := h.folderOf(r, tenant)
	if err != nil {
		return err
	}
	if name == "" {
		return fileError(file, fs.ErrNotExist)
	}
	f, info, err := h.rooms.folders.store.Get(name, file)
	if err != nil {
		return fileError(file, err)
	}
	defer f.Close()
	head := w.Header()
	head.Set("Content-Type", "application/octet-stream")
	head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(file)}))
	head.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	w.WriteHeader(http.StatusOK)
	io.CopyN(w, f, info.Size()) // an error means that the client has left, or that the file was cut meanwhile
	return nil
}

// putFile makes the body what a file holds.
func (h *fileAPI) putFile(w http.ResponseWriter, r *http.Request, tenant string) error {
	file := r.PathValue("path")
	rm, name, err := h.folderOf(r, tenant)
	if err == nil && name == "" {
		name, err = h.rooms.folders.folder(rm.session)
	}
	if err != nil {
		return err
	}
	f, made, err := h.rooms.folders.store.Put(name, file, r.Body)
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

func (h *fileAPI) deleteFile(w http.ResponseWriter, r *http.Request, tenant string) error {
	file := r.PathValue("path")
	_, name, err := h.folderOf(r, tenant)
	if err != nil {
		return err
	}
	if name == "" {
		err = fmt.Errorf("%s: %w", file, fs.ErrNotExist)
	} else {
		err = h.rooms.folders.store.Delete(name, file)
	}
	if err != nil {
		return fileError(file, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
