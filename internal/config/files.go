package config

import "reflect"

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
			if field.Tag.Get("names") == "file" && files != "" {
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
