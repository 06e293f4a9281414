package sqlite_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// A disk is what SQLite's files of one folder are on. It counts the calls that reach it and lets one of them fail, or
// all from one of them on, as when power is lost. What was written since the last sync of its file is then lost.
type disk struct {
	dir   string
	fail  int  // the number of the call that fails, from 1; 0: none
	power bool // all later ones fail, too

	mu       sync.Mutex
	calls    int
	unsynced []before // in the order in which they were made
}

// A before is what a file had before it was written to.
type before struct {
	path string
	off  int64
	old  []byte // what the bytes were
	size int64  // of the file
	n    int    // bytes written; 0: the file was cut at off
}

// disks are those that are in use. The layer below SQLite is one for the whole process.
var disks struct {
	sync.Mutex
	once  sync.Once
	of    map[string]*disk
	files map[uintptr]*file // those that are open on a disk, by their address
}

// A file is one that SQLite has opened on a disk.
type file struct {
	disk    *disk
	path    string
	methods *lib.Tsqlite3_io_methods // of the operating system
}

// use puts a disk below SQLite's files in its folder until the test ends.
func (d *disk) use(t *testing.T) {
	disks.once.Do(register)
	disks.Lock()
	disks.of[d.dir] = d
	disks.Unlock()
	t.Cleanup(d.leave)
}

// leave takes the disk away.
func (d *disk) leave() {
	disks.Lock()
	defer disks.Unlock()
	delete(disks.of, d.dir)
}

// failed reports whether the call that was to fail has come.
func (d *disk) failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fail > 0 && d.calls >= d.fail
}

// strike counts a call, and reports whether it fails.
func (d *disk) strike() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	return d.fail > 0 && (d.calls == d.fail || d.power && d.calls > d.fail)
}

// lose takes back what was written and not synced: all of it, or some where a source of chance is given.
func (d *disk) lose(t *testing.T, chance *rand.Rand) {
	t.Helper()
	for _, w := range slices.Backward(d.unsynced) {
		if chance != nil && chance.IntN(2) == 0 {
			continue
		}
		f, err := os.OpenFile(w.path, os.O_RDWR, 0)
		if os.IsNotExist(err) {
			continue
		}
		must(t, err)
		old := w.old
		if chance != nil && len(old) < w.n { // another write may have made the file longer
			old = append(slices.Clone(old), make([]byte, w.n-len(old))...)
		}
		_, err = f.WriteAt(old, w.off)
		must(t, err)
		if chance == nil {
			must(t, f.Truncate(w.size))
		}
		must(t, f.Close())
	}
	left, err := filepath.Glob(filepath.Join(d.dir, "*-shm")) // memory, which is lost as well
	must(t, err)
	for _, f := range left {
		must(t, os.Remove(f))
	}
}

// The functions of SQLite's layer for operating systems: https://sqlite.org/c3ref/vfs.html and io_methods.html.
type (
	openFunc   = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	deleteFunc = func(tls *libc.TLS, vfs, name uintptr, sync int32) int32
	closeFunc  = func(tls *libc.TLS, file uintptr) int32
	moveFunc   = func(tls *libc.TLS, file, buf uintptr, n int32, off int64) int32
	cutFunc    = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc   = func(tls *libc.TLS, file uintptr, flags int32) int32
	sizeFunc   = func(tls *libc.TLS, file, size uintptr) int32
)

// at returns what is at an address outside of Go's memory.
func at[T any](address uintptr) *T { return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&address))) }

// call returns the function that a pointer of C is.
func call[F any](f uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{f})) }

// pointer returns a function as a pointer of C.
func pointer(f any) uintptr { return (*(*[2]uintptr)(unsafe.Pointer(&f)))[1] }

// system is the layer of the operating system.
var system uintptr

// register puts a layer between SQLite and that of the operating system, for the whole process.
func register() {
	disks.of, disks.files = map[string]*disk{}, map[uintptr]*file{}
	tls := libc.NewTLS()
	system = lib.Xsqlite3_vfs_find(tls, 0)
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(lib.Tsqlite3_vfs{})))
	name, err := libc.CString("faulty")
	if err != nil || own == 0 {
		panic("no memory")
	}
	v := at[lib.Tsqlite3_vfs](own)
	*v = *at[lib.Tsqlite3_vfs](system)
	v.FpNext, v.FzName, v.FxOpen, v.FxDelete = 0, name, pointer(openFunc(openFile)), pointer(deleteFunc(deleteFile))
	if rc := lib.Xsqlite3_vfs_register(tls, own, 1); rc != lib.SQLITE_OK {
		panic("the layer cannot be registered")
	}
}

// diskOf returns the disk of a file; nil: it has none.
func diskOf(name uintptr) (*disk, string) {
	if name == 0 {
		return nil, ""
	}
	path := libc.GoString(name)
	disks.Lock()
	defer disks.Unlock()
	return disks.of[filepath.Dir(path)], path
}

func openFile(tls *libc.TLS, _, name, f uintptr, flags int32, out uintptr) int32 {
	d, path := diskOf(name)
	if d != nil && d.strike() {
		at[lib.Tsqlite3_file](f).FpMethods = 0
		return lib.SQLITE_CANTOPEN
	}
	rc := call[openFunc](at[lib.Tsqlite3_vfs](system).FxOpen)(tls, system, name, f, flags, out)
	if rc != lib.SQLITE_OK || d == nil {
		return rc
	}
	head := at[lib.Tsqlite3_file](f)
	was := at[lib.Tsqlite3_io_methods](head.FpMethods)
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*was)))
	m := at[lib.Tsqlite3_io_methods](own)
	*m = *was
	m.FxClose, m.FxSync = pointer(closeFunc(closeFile)), pointer(syncFunc(syncFile))
	m.FxRead, m.FxWrite = pointer(moveFunc(readFile)), pointer(moveFunc(writeFile))
	m.FxTruncate, m.FxFileSize = pointer(cutFunc(cutFile)), pointer(sizeFunc(sizeFile))
	head.FpMethods = own
	disks.Lock()
	defer disks.Unlock()
	disks.files[f] = &file{d, path, was}
	return rc
}

func deleteFile(tls *libc.TLS, _, name uintptr, sync int32) int32 {
	d, path := diskOf(name)
	if d != nil && d.strike() {
		return lib.SQLITE_IOERR_DELETE
	}
	if d != nil {
		d.synced(path)
	}
	return call[deleteFunc](at[lib.Tsqlite3_vfs](system).FxDelete)(tls, system, name, sync)
}

// fileAt returns the file at an address.
func fileAt(f uintptr) *file {
	disks.Lock()
	defer disks.Unlock()
	return disks.files[f]
}

func closeFile(tls *libc.TLS, f uintptr) int32 {
	x := fileAt(f)
	own := at[lib.Tsqlite3_file](f).FpMethods
	rc := call[closeFunc](x.methods.FxClose)(tls, f)
	disks.Lock()
	delete(disks.files, f)
	disks.Unlock()
	libc.Xfree(tls, own)
	return rc
}

func readFile(tls *libc.TLS, f, buf uintptr, n int32, off int64) int32 {
	x := fileAt(f)
	if x.disk.strike() {
		return lib.SQLITE_IOERR_READ
	}
	return call[moveFunc](x.methods.FxRead)(tls, f, buf, n, off)
}

func writeFile(tls *libc.TLS, f, buf uintptr, n int32, off int64) int32 {
	x := fileAt(f)
	if x.disk.strike() {
		return lib.SQLITE_IOERR_WRITE
	}
	x.note(off, int(n))
	return call[moveFunc](x.methods.FxWrite)(tls, f, buf, n, off)
}

func cutFile(tls *libc.TLS, f uintptr, size int64) int32 {
	x := fileAt(f)
	if x.disk.strike() {
		return lib.SQLITE_IOERR_TRUNCATE
	}
	x.note(size, 0)
	return call[cutFunc](x.methods.FxTruncate)(tls, f, size)
}

func syncFile(tls *libc.TLS, f uintptr, flags int32) int32 {
	x := fileAt(f)
	if x.disk.strike() {
		return lib.SQLITE_IOERR_FSYNC
	}
	rc := call[syncFunc](x.methods.FxSync)(tls, f, flags)
	if rc == lib.SQLITE_OK {
		x.disk.synced(x.path)
	}
	return rc
}

func sizeFile(tls *libc.TLS, f, size uintptr) int32 {
	x := fileAt(f)
	if x.disk.strike() {
		return lib.SQLITE_IOERR_FSTAT
	}
	return call[sizeFunc](x.methods.FxFileSize)(tls, f, size)
}

// note remembers what a file has before n bytes are written to it, or before it is cut where n is 0.
func (x *file) note(off int64, n int) {
	if !x.disk.power || strings.HasSuffix(x.path, "-shm") {
		return
	}
	f, err := os.Open(x.path)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	w := before{path: x.path, off: off, size: info.Size(), n: n}
	if n == 0 {
		n = int(max(0, w.size-off))
	}
	w.old = make([]byte, n)
	n, _ = f.ReadAt(w.old, off)
	w.old = w.old[:n]
	x.disk.mu.Lock()
	defer x.disk.mu.Unlock()
	x.disk.unsynced = append(x.disk.unsynced, w)
}

// synced forgets what a file had before: what was written to it stays.
func (d *disk) synced(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unsynced = slices.DeleteFunc(d.unsynced, func(w before) bool { return w.path == path })
}
