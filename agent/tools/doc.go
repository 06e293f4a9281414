// Package tools has the tools that an agent works on a project with: read, write, edit, glob, grep, bash and fetch.
//
//	s, err := tools.New(tools.Options{Dir: "."})
//	...
//	defer s.Close()
//	a, err := agent.New(client, agent.Options{Tools: s.Tools(), ...})
//
// # Files
//
// The tools of files see the folder of the project and nothing else: symbolic links that lead out of it, devices and pipes are
// refused. A file is changed at once or not at all, and only after the model has read what it holds. What lies in .git and
// .decant is not written to. What a file was before each change is kept, so that Set.Rewind can take changes back by their calls.
//
// # Commands
//
// A command runs in a process group of its own, with a limit of time and of output, without the variables of the environment that look like
// secrets, and with a folder that it stays in between calls. When it ends, or its call does, whatever it has started is killed.
//
// It is confined: it writes in the project and in a temporary folder, reaches no network unless Shell.Network says so, no service of the
// machine through a socket of files, no other process, and it does not read what holds credentials (~/.ssh and its like, see Shell.Hide).
// Bubblewrap does that where it is installed, else Landlock with a filter of system calls, for which the program must begin with
// MainIfConfined. Where neither works, commands are refused, unless Shell.Attended says that somebody is there to be asked about each of
// them. Its processes and their memory are limited (Shell.Processes, Shell.Memory).
//
// Within the project a command does what it likes, but for what git, editors and agents run or obey. Bubblewrap keeps .git/config, hooks,
// .decant, .claude and their like as they are, also where they are not there. What it cannot keep a command from making, such as a
// repository in a folder below, is put aside when the command ends. Git runs nothing that a repository names. Sources and files of a build
// are a command's to change: look at what has changed before you run it.
//
// Landlock is for one person's terminal: it does not hide the names of files and which programs run with which arguments, lets a command
// change the mode and the times of its user's files wherever they are, and keeps nothing in the project as it is. The first command says
// so. A service for several users refuses it.
//
// With Shell.Apart a command sees the programs of the machine, what they need in /etc, and the project; all else is hidden.
//
// # Pages
//
// A page is fetched from public addresses only. The address is checked when the connection is made, so that neither a redirect nor
// an answer of the DNS leads to another one. A redirect to another host is reported and not followed.
package tools
