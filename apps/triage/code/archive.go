package code

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/go-github/v89/github"
)

// mostArchive is how many bytes of files an archive may hold to be searched.
const mostArchive = 48 << 20

// An archive is the files of a commit, by the SHA of their contents: an archive may lack files, or have other bytes in them, where
// attributes of the repository say so, and those are not found under their SHA.
type archive struct {
	byBlob map[string][]byte
	bytes  int64
	large  bool // it is too large to be held; nothing of it is
}

// blob returns the contents with a SHA.
func (a *archive) blob(sha string) ([]byte, bool) {
	if a == nil {
		return nil, false
	}
	data, ok := a.byBlob[sha]
	return data, ok
}

func (h *hub) archiveKey(sha string) string { return key("archive", h.owner, h.name, sha) }

// archive returns the files of a commit.
func (h *hub) archive(ctx context.Context, sha string) (*archive, error) {
	return remember(ctx, h.cache, h.archiveKey(sha), func(a *archive) int64 { return a.bytes },
		func(ctx context.Context) (*archive, error) { return h.download(ctx, sha) })
}

// fetching fetches archives. Their address holds a passing key, so that the token does not go with the request.
var fetching = &http.Client{Timeout: 2 * time.Minute}

// download reads the archive of a commit.
func (h *hub) download(ctx context.Context, sha string) (*archive, error) {
	if err := checkSHA(sha); err != nil {
		return nil, err
	}
	link, _, err := h.client.Repositories.GetArchiveLink(ctx, h.owner, h.name, github.Tarball, &github.RepositoryContentGetOptions{Ref: sha}, 2)
	if err != nil {
		return nil, missing(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link.String(), nil)
	if err != nil {
		return nil, errors.New("GitHub sends to an address for the archive that is none")
	}
	resp, err := fetching.Do(req)
	if err != nil {
		return nil, plainError(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GitHub sends no archive of the commit: %s", resp.Status)
	}
	return readArchive(resp.Body)
}

// readArchive reads a compressed archive.
func readArchive(from io.Reader) (*archive, error) {
	unzipped, err := gzip.NewReader(from)
	if err != nil {
		return nil, fmt.Errorf("read the archive of the commit: %w", err)
	}
	out := &archive{byBlob: map[string][]byte{}}
	for files := tar.NewReader(unzipped); ; {
		head, err := files.Next()
		switch {
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("read the archive of the commit: %w", err)
		case head.Typeflag != tar.TypeReg || head.Size > largest:
			continue
		}
		data, err := io.ReadAll(io.LimitReader(files, largest+1))
		if err != nil {
			return nil, fmt.Errorf("read the archive of the commit: %w", err)
		}
		if out.bytes += int64(len(data)) + 100; out.bytes > mostArchive {
			return &archive{large: true}, nil
		}
		out.byBlob[blobSHA(data)] = data
	}
}

// blobSHA returns the SHA of contents as git names them.
func blobSHA(data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
