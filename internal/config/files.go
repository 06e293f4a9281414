package config

import (
	"path/filepath"
	"reflect"
	"strings"

	"github.com/decantdev/decant/internal/userdir"
	"github.com/decantdev/decant/preset"
)

// Files returns the file with the settings and all files that they name, such as keys: what only the service needs to read.
func (c *Config) Files() []string { return named(reflect.ValueOf(*c)) }

// named returns what the fields of a struct name that are tagged for it, those of structs and lists in it too.
func named(v reflect.Value) (out []string) {
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			out = append(out, named(v.Index(i))...)
		}
		return out
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for field, value := range v.Fields() {
		switch files := value.Interface().(type) {
		default:
			out = append(out, named(value)...)
		case string:
			switch names := field.Tag.Get("names"); {
			case names == "database" && IsServer(files):
				if file, ok := strings.CutPrefix(files, "@"); ok {
					out = append(out, file)
				}
			case (names == "file" || names == "database") && files != "":
				out = append(out, files)
			}
		case []string:
			if field.Tag.Get("names") == "file" {
				out = append(out, files...)
			}
		}
	}
	return out
}

// findFiles names the user's own database if no other is named, and all files as they are found from the folder of the sources.
func (c *Config) findFiles(s Sources) {
	if dir, err := userdir.Data(lookup(s.Environ)); c.DB == "" && err == nil { // without a home folder there is none of one's own
		c.DB = filepath.Join(dir, "decant.db")
	}
	if s.Dir != "" {
		place(reflect.ValueOf(c).Elem(), s.Dir)
	}
}

// lookup returns a function that finds the value of a variable in an environment, of which the last value counts.
func lookup(environ []string) func(string) string {
	return func(name string) (value string) {
		for _, v := range environ {
			if key, is, ok := strings.Cut(v, "="); ok && key == name {
				value = is
			}
		}
		return value
	}
}

// place puts a folder in front of relative names of files in a struct, those of structs and lists in it too.
func place(v reflect.Value, dir string) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			place(v.Index(i), dir)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Field(i)
			if !field.CanSet() {
				continue
			}
			names := v.Type().Field(i).Tag.Get("names")
			switch files, list := field.Addr().Interface().(*[]string); {
			case names == "file" && list:
				for k, name := range *files {
					(*files)[k] = below(dir, name)
				}
			case names == "file" || names == "preset" && preset.IsFile(field.String()):
				field.SetString(below(dir, field.String()))
			case names == "database":
				if file, ok := strings.CutPrefix(field.String(), "@"); ok {
					field.SetString("@" + below(dir, file))
				} else if !IsServer(field.String()) {
					field.SetString(below(dir, field.String()))
				}
			default:
				place(field, dir)
			}
		}
	}
}

// below returns the name of a file as it is found from a folder.
func below(dir, name string) string {
	if dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
