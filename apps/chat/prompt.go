package chat

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/project"
)

const (
	mostAttached = 40_000 // characters of an attached file, as of a result
	mostListed   = 200    // entries of an attached folder
	mostImage    = 5 << 20
)

// attached is a file that is named in what a person types: @path, or @"a path with spaces".
var attached = regexp.MustCompile(`(?:^|[\s(])@(?:"([^"\n]+)"|([^\s"'()]+))`)

// Typed returns what a person means by a line of text: a command of the project with its arguments is what the command says, and
// files that are named with @ stand behind the text; images are shown beside it. It is for what somebody types, not for what comes from files and
// other programs: the text decides which files are read. What a command of the project names itself is read in the project only,
// and no link of the project leads out of it.
func Typed(p *project.Project, text string) (said string, shown []agent.Attachment, err error) {
	typed, foreign := namesIn(text), false
	if name, arguments, ok := slash(text); ok {
		if i := slices.IndexFunc(p.Commands, func(c project.Command) bool { return c.Name == name }); i >= 0 {
			text, foreign = p.Commands[i].Say(arguments), !p.Commands[i].Own
		}
	}
	var files strings.Builder
	for _, name := range namesIn(text) {
		file := filepath.Join(dirOf(p, name), filepath.FromSlash(name))
		var within string
		rel, err := filepath.Rel(p.Root, file)
		if own := err == nil && filepath.IsLocal(rel); own || foreign && !slices.Contains(typed, name) {
			within = p.Root // where a link of the project leads, the project says
		}
		content, kind, err := attach(file, within)
		switch {
		case errors.Is(err, fs.ErrNotExist): // @ is also written before names of people and packages
		case err != nil:
			return "", nil, fmt.Errorf("@%s: %w", name, err)
		case kind != "":
			shown = append(shown, agent.Attachment{Name: name, MediaType: kind, Data: []byte(content)})
		default:
			fmt.Fprintf(&files, "\n\n<file name=%q>\n%s\n</file>", name, content)
		}
	}
	return text + files.String(), shown, nil
}

// namesIn returns the files that a text names with @, each once.
func namesIn(text string) (out []string) {
	for _, m := range attached.FindAllStringSubmatch(text, -1) {
		name := cmp.Or(m[1], strings.TrimRight(m[2], ".,;:!?"))
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// inside says why a file is not in the project that has a root, also where a link leads out of it.
func inside(root, file string) error {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return err
	}
	if rel, err := filepath.Rel(root, file); err != nil || !filepath.IsLocal(rel) {
		return errors.New("it lies outside of the project; if it is to be read, type @ and its own path")
	}
	return nil
}

// slash splits "/name arguments".
func slash(text string) (name, arguments string, ok bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return "", "", false
	}
	name, arguments, _ = strings.Cut(rest, " ")
	if i := strings.IndexByte(name, '\n'); i >= 0 {
		name, arguments = name[:i], name[i:]+" "+arguments
	}
	return name, strings.TrimSpace(arguments), name != ""
}

// dirOf returns what a name is relative to.
func dirOf(p *project.Project, name string) string {
	if filepath.IsAbs(name) {
		return ""
	}
	return p.Dir
}

// attach returns the text of a file, the names in a folder, or an image with its media type. The file must lie within a folder, if one is given.
func attach(name, within string) (content, image string, err error) {
	if within != "" {
		if err := inside(within, name); err != nil {
			return "", "", err
		}
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", "", err
	case info.IsDir():
		content, err = listing(name)
		return content, "", err
	case !info.Mode().IsRegular():
		return "", "", fmt.Errorf("%s is not a file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostImage+1))
	if err != nil {
		return "", "", err
	}
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		if len(data) > mostImage {
			return "", "", fmt.Errorf("it is an image of more than %d MB", mostImage>>20)
		}
		return string(data), kind, nil
	}
	content, err = shortened(data[:min(len(data), 4*mostAttached)], info.Size())
	return content, "", err
}

// shortened returns the beginning of a file of so many bytes, with what is left out.
func shortened(data []byte, size int64) (string, error) {
	whole := int64(len(data)) == size
	for n := 1; n < utf8.UTFMax && !whole && len(data) > 0 && !utf8.Valid(data); n++ {
		data = data[:len(data)-1] // the rest of a character may be behind the end
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("it is not UTF-8 text")
	}
	text := string(data)
	n := 0
	for i := range text {
		if n++; n > mostAttached {
			text, whole = text[:i], false
			break
		}
	}
	if !whole {
		text += fmt.Sprintf("\n[... %d bytes of %d are left out here; read the rest with a tool ...]", size-int64(len(text)), size)
	}
	return text, nil
}

// listing returns the names in a folder.
func listing(name string) (string, error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, e := range entries {
		if i == mostListed {
			fmt.Fprintf(&b, "[... %d more ...]\n", len(entries)-i)
			break
		}
		b.WriteString(fs.FormatDirEntry(e) + "\n")
	}
	return strings.TrimRight(b.String(), "\n"), nil
}
