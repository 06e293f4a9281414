package secret

import "strings"

// programs are command lines with flags whose value is a credential: "-p " is a flag with the value as the
// next word, "-p" one with the value in the same word, "-u :" one with a password behind a name and a colon,
// "-b ;" one with cookies. Long flags with telling names need no row: "--password X", "--api-key X".
var programs = []struct {
	name  string
	flags []string
}{
	{"mysql", []string{"-p"}}, {"mysqldump", []string{"-p"}}, {"mysqladmin", []string{"-p"}},
	{"mysqlimport", []string{"-p"}},
	{"mariadb", []string{"-p"}}, {"mariadb-dump", []string{"-p"}}, {"mariadb-admin", []string{"-p"}},
	{"mongo", []string{"-p "}}, {"mongosh", []string{"-p "}}, {"mongodump", []string{"-p ", "-p"}},
	{"cqlsh", []string{"-p "}},
	{"sqlcmd", []string{"-P ", "-P"}}, {"bcp", []string{"-P ", "-P"}}, {"redis-cli", []string{"-a "}},
	{"influx", []string{"-password "}},
	{"curl", []string{"-u :", "--user :", "-U :", "--proxy-user :", "-b ;", "--cookie ;"}},
	{"http", []string{"-a :"}}, {"https", []string{"-a :"}},
	{"wget", []string{"--http-password ", "--ftp-password "}},
	{"skopeo", []string{"--creds :", "--src-creds :", "--dest-creds :"}},
	{"sshpass", []string{"-p ", "-p"}}, {"smbclient", []string{"-U %"}}, {"ldapsearch", []string{"-w "}},
	{"ldapmodify", []string{"-w "}},
	{"ldapadd", []string{"-w "}}, {"kinit", []string{"-p "}}, {"rabbitmqadmin", []string{"-p "}},
	{"twine", []string{"-p "}},
	{"docker login", []string{"-p "}}, {"podman login", []string{"-p "}},
	{"helm registry login", []string{"-p "}}, {"oras login", []string{"-p "}},
	{"crane auth login", []string{"-p "}}, {"az login", []string{"-p "}}, {"az acr login", []string{"-p "}},
	{"oc login", []string{"-p "}}, {"cf login", []string{"-p "}},
	{"zip", []string{"-P "}}, {"unzip", []string{"-P "}}, {"7z", []string{"-p"}},
	{"keytool", []string{"-storepass ", "-keypass "}},
	{"openssl", []string{"-passin :", "-passout :", "-pass :", "-k "}},
}

// A command is a command line.
type command struct {
	program int // in programs, from 1 on
	seen    int // as far as it is known to go on
}

// program notes that a command line begins at i, if the name of a known program is there.
func (s *scanner) program(i int, some []int) {
	for _, k := range some {
		name := programs[k].name
		rest, ok := strings.CutPrefix(s.text[i:], name)
		if ok && strings.HasPrefix(rest, " ") && (k+1 != s.line.program || !s.goesOn(i)) {
			s.line = command{k + 1, i}
		}
	}
}

// goesOn reports whether the command line reaches to i.
func (s *scanner) goesOn(i int) bool {
	between := s.text[s.line.seen:i]
	s.work += len(between)
	if s.line.seen = i; strings.ContainsAny(between, "\n|;") || strings.Contains(between, "&&") || strings.Contains(between, `\n`) {
		s.line.program = 0
	}
	return s.line.program > 0
}

// flag returns the end of the credential behind the flag that begins at i, or 0.
func (s *scanner) flag(i int) int {
	if i > 0 && !isSpace(s.text[i-1]) && strings.IndexByte("\"'`", s.text[i-1]) < 0 {
		return 0
	}
	end := i + 1 + wordLength(s.text[i+1:min(len(s.text), i+1+longestName)], token)
	word := s.text[i:end]
	if s.line.program > 0 && s.goesOn(i) {
		for _, f := range programs[s.line.program-1].flags {
			if v, ok := s.flagValue(word, i, f); ok && !placeholder(v.text) && len(v.text) > 3 {
				s.add(v.start, v.end, "password")
				return v.end
			}
		}
	}
	if !strings.HasPrefix(word, "--") || end == len(s.text) || s.text[end] != ' ' {
		return 0
	}
	is := s.before(end)
	if is != password && is != strong {
		return 0
	}
	v := s.value(end+1, false)
	if strings.HasPrefix(v.text, "-") || !v.credential(is) {
		return 0
	}
	s.add(v.start, v.end, kindOf(is))
	return v.end
}

// flagValue returns the value of the flag f of a program, when word is that flag.
func (s *scanner) flagValue(word string, i int, f string) (v value, ok bool) {
	name, sep, apart := f, "", false
	if k := strings.IndexByte(f, ' '); k > 0 {
		name, sep, apart = f[:k], f[k+1:], true
	}
	end := i + len(word)
	switch {
	case apart && (word == name || len(name) == 2 && bundle(word) && word[len(word)-1] == name[1]) && end < len(s.text) && s.text[end] == ' ':
		v = s.value(end+1, false)
	case !apart && strings.HasPrefix(word, name) && i+len(name) < len(s.text) && !isSpace(s.text[i+len(name)]):
		v = s.value(i+len(name), false)
	default:
		return v, false
	}
	if strings.HasPrefix(v.text, "-") {
		return v, false
	}
	switch sep {
	case "":
	case ";":
		s.cookie(v.start)
		return v, false
	default:
		k := strings.Index(v.text, sep)
		if k < 0 || placeholder(v.text) {
			return v, false
		}
		v.start += k + 1
		v.text = v.text[k+1:]
	}
	return v, true
}

// bundle reports whether a word is several short flags in one: "-su".
func bundle(word string) bool {
	return len(word) > 2 && len(word) < 6 && word[1] != '-' && allLetters(word[1:])
}

func allLetters(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) {
			return false
		}
	}
	return true
}
