package tool

import "strings"

// ClassOf returns the class of a tool by its name alone. Case, underscores, hyphens and the server
// prefix of MCP tools ("mcp__files__read_file") make no difference.
func ClassOf(name string) Class {
	plain := plainName(name)
	if c := known(plain); c != "" {
		return c
	}
	return guess(plain)
}

// plainName strips the server prefix, separators and case.
func plainName(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	if i := strings.LastIndexAny(name, "./:"); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	out := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == ' ':
		case 'A' <= c && c <= 'Z':
			out = append(out, c+'a'-'A')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// known is the table of tool names of real agents: Claude Code, Codex, pi, opencode, Copilot CLI,
// cline, OpenHands, SWE-agent, gemini-cli, qwen, cursor, crush, kimi, droid, goose, and the
// reference MCP servers. It is empty for a name that no agent known to us uses.
func known(plain string) Class {
	switch plain {
	case "read", "readfile", "view", "viewfile", "readmanyfiles", "readmultiplefiles", "readtextfile",
		"readmediafile", "open", "openfile",
		"goto", "scrollup", "scrolldown", "cat", "viewimage", "notebookread", "readfilerange", "getfilecontents", "fsread", "getfile":
		return Read
	case "write", "writefile", "create", "createfile", "writetofile", "savefile", "fswrite", "newfile":
		return Write
	case "edit", "editfile", "multiedit", "strreplace", "strreplacefile", "strreplaceeditor", "strreplacebasededittool",
		"replace", "replaceinfile", "replacefilecontent", "multireplacefilecontent", "applypatch", "applydiff",
		"patch", "insert", "insertcontent",
		"notebookedit", "editnotebook", "searchreplace", "update", "movefile", "renamefile":
		return Edit
	case "deletefile", "delete", "removefile":
		return Delete
	case "bash", "shell", "shellcommand", "localshell", "localshellcall", "exec", "execcommand", "executebash",
		"executecommand", "execute", "runcommand",
		"runshellcommand", "runterminalcmd", "runterminalcommand", "runinterminal", "terminal", "sh",
		"powershell", "cmd", "command",
		"writestdin", "readbash", "writebash", "stopbash", "bashoutput", "killbash", "killshell", "taskoutput", "computer", "developershell":
		return Shell
	case "grep", "glob", "ls", "list", "listdir", "listdirectory", "listfiles", "find", "findfile", "findfiles",
		"search", "searchfile",
		"searchfiles", "searchfilecontent", "searchdir", "searchcode", "grepsearch", "filesearch",
		"codebasesearch", "codesearch", "rg", "directorytree",
		"listcodedefinitionnames", "sourcegraph", "lsp", "toolsearch", "semanticsearch":
		return Search
	case "webfetch", "websearch", "websearchcall", "fetch", "fetchurl", "searchweb", "googlewebsearch",
		"browser", "browseraction", "browse",
		"browseinteractive", "openurl", "download", "urlfetch", "exasearch", "httprequest", "navigate":
		return Web
	case "task", "agent", "spawnagent", "dispatchagent", "newtask", "delegate", "delegatetask", "subagent", "runagent", "callagent", "waitagent":
		return Agent
	case "todowrite", "todoread", "todo", "updateplan", "updatetodo", "settodolist", "writetodos", "taskcreate",
		"taskupdate", "tasklist", "taskget",
		"exitplanmode", "enterplanmode", "tasktracker", "plan", "todolist", "updatetodolist", "managetodolist":
		return Todo
	}
	return ""
}

// guess goes by the verb of a name that the table does not hold, such as that of an MCP tool.
func guess(plain string) Class {
	for _, g := range guesses {
		if strings.HasPrefix(plain, g.prefix) && strings.Contains(plain, g.part) {
			return g.class
		}
	}
	return Other
}

// guesses pairs beginnings of names with a part that must occur too; the first that fits decides.
var guesses = [...]struct {
	prefix, part string
	class        Class
}{
	{"read", "file", Read},
	{"view", "file", Read},
	{"write", "file", Write},
	{"create", "file", Write},
	{"edit", "file", Edit},
	{"search", "web", Web},
	{"web", "search", Web},
	{"web", "fetch", Web},
	{"fetch", "url", Web},
	{"fetch", "page", Web},
	{"search", "", Search},
	{"find", "", Search},
	{"list", "file", Search},
	{"list", "dir", Search},
	{"browser", "", Web},
	{"run", "command", Shell},
	{"exec", "command", Shell},
}
