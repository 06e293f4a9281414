package code

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// Locate returns which file of which repository a frame is in, by the mappings of the repositories; of several the longest one counts.
// It does not look whether there is such a file: Find does.
func (r *Reader) Locate(f source.Frame) (repo, name string, ok bool) { return r.locate(f, "") }

// locate is Locate for which the mapping of one repository counts more than the same one of others: programs in containers are all in /app.
func (r *Reader) locate(f source.Frame, own string) (repo, name string, ok bool) {
	given := plainName(f.File)
	longest := -1
	for _, candidate := range r.repos {
		for _, m := range candidate.Paths {
			if at, fits := m.apply(given); fits && (len(m.From) > longest || len(m.From) == longest && candidate.Name == own) {
				repo, name, ok, longest = candidate.Name, at, true, len(m.From)
			}
		}
	}
	return repo, name, ok
}

// apply returns where a file is by a mapping.
func (m Mapping) apply(given string) (name string, ok bool) {
	from := strings.TrimSuffix(plainName(m.From), "/")
	rest, ok := strings.CutPrefix(given, from)
	if !ok {
		return "", false
	}
	if strings.HasPrefix(rest, "@") { // a version of a Go module: github.com/acme/shop@v1.2.3/x.go
		_, rest, _ = strings.Cut(rest, "/")
		rest = "/" + rest
	}
	if from != "" && !strings.HasPrefix(rest, "/") {
		return "", false
	}
	name = path.Join(m.To, strings.TrimLeft(rest, "/"))
	return name, fs.ValidPath(name) && name != "."
}

var (
	scheme = lazyregexp.New(`^(webpack-internal|webpack|file|app|https?|rsrc|ng):/{2,3}`)
	drive  = lazyregexp.New(`^[A-Za-z]:/`)
)

// plainName returns the name of a file as programs put it into stack traces, without what only bundlers and browsers put around it.
func plainName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	bundled := scheme.FindString(name)
	name = name[len(bundled):]
	if bundled != "" {
		name, _, _ = strings.Cut(name, "?")
		if bundled == "file:///" {
			name = "/" + name
		}
	}
	name = drive.ReplaceAllString(name, "/")
	for strings.HasPrefix(name, "./") {
		name = name[2:]
	}
	if rest, ok := strings.CutPrefix(name, "_N_E/./"); ok {
		name = rest
	}
	if strings.HasPrefix(name, "/") {
		return path.Clean(name)
	}
	return name
}

// libraries are parts of the names of files that come from libraries.
var libraries = []string{"/site-packages/", "/dist-packages/", "node_modules/", "/pkg/mod/", "/usr/lib/", "/gems/", "/vendor/bundle/", "/go/src/", "node:", "<frozen "}

// Find returns which file of a version a frame is in: by the mappings of its repository, or else the one file whose name the frame's ends
// with. It is false where there is none or more than one, and for files of libraries that no mapping names.
func (r *Reader) Find(ctx context.Context, at Version, f source.Frame) (name string, ok bool) {
	t, err := r.tree(ctx, at)
	if err != nil {
		return "", false
	}
	if repo, name, ok := r.locate(f, at.Repo); ok {
		_, there := t.file(name)
		return name, there && repo == at.Repo
	}
	given := plainName(f.File)
	for _, l := range libraries {
		if strings.Contains(given, l) {
			return "", false
		}
	}
	return t.bySuffix(given)
}

// bySuffix returns the file whose name shares the most folders at its end with a name, at least its last part, if there is one such file.
func (t *tree) bySuffix(given string) (name string, ok bool) {
	rest := strings.Trim(given, "/")
	for rest != "" {
		found := 0
		for _, f := range t.files {
			if f.name == rest {
				return f.name, true
			}
			if strings.HasSuffix(f.name, "/"+rest) {
				name, found = f.name, found+1
			}
		}
		if found > 0 {
			return name, found == 1
		}
		_, rest, _ = strings.Cut(rest, "/")
	}
	return "", false
}
