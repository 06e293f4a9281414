# What .ci/run and scripts/nightly both do. They source this file, with $work a folder for what is left behind.

# install COMMAND PACKAGE...: Debian's packages, where the command is missing.
install() {
  command -v "$1" >/dev/null || { apt-get update -q && apt-get install -q -y "${@:2}"; }
}

# tests COMMAND...: a test command. What rapid draws is megabytes when a property fails, so it is left out and long lines are
# cut. Only the end of a log is read, so what failed is said there once more.
tests() {
  local log=$work/log status=0
  "$@" 2>&1 | LC_ALL=C sed -u -e '/\[rapid\] draw /d' -e 's/^\(.\{400\}\).*/\1 .../' | tee "$log" || status=$?
  if [ "$status" != 0 ]; then
    printf '\nwhat failed:\n'
    LC_ALL=C grep -E -A 10 -e '^ *--- FAIL' -e '^panic: ' -e 'WARNING: DATA RACE' -e '-rapid\.seed=' -e '^FAIL' -e '^#' "$log" |
      cut -c1-200 | tail -n 80
  fi
  printf '%d packages, %d of them cached' "$(grep -c '^ok ' "$log")" "$(grep -c '^ok .*(cached)' "$log")" >"$work/note"
  sed -n -E "s/^ok\s+(\S+)\s+([0-9.]+)s.*/\2 \1${kind:+ ($kind)}/p" "$log" >>"$work/packages"
  return "$status"
}

# unwatched are packages that the race detector does not watch. They took half of its time, and it has little to find there:
# regular expressions only read, nearly always strings, and SQLite is C made into Go, with memory and locks of its own.
unwatched="regexp regexp/syntax unicode unicode/utf8 modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory"

# race [FLAG or PACKAGE]...: tests, watched by the race detector, of the packages whose production code starts goroutines.
race() {
  install gcc gcc libc6-dev
  local dirs
  dirs=$(grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir=testdata -e '^\s+go [a-zA-Z_]' -e '\.Go\([a-z]' -e 'AfterFunc\(' . |
    xargs -n1 dirname | sort -u)
  kind=race CGO_ENABLED=1 tests go test -race $(printf -- '-gcflags=%s=-race=false ' $unwatched) "$@" $dirs
}

# guiding are the packages whose branches guide the fuzzer: ours, and the parser of command lines. go test -fuzz
# would build everything else once more, too, which took most of the time.
guiding="$(go list -m)/... mvdan.cc/sh/..."

# fuzz RUNS [PACKAGE]...: fuzzes all targets, of the packages or of all, with scripts/fuzzer.
fuzz() {
  local runs=$1 targets
  shift
  [ $# -gt 0 ] || set -- $(git ls-files '*_test.go' | xargs -n1 dirname | sort -u | sed 's,^,./,')
  targets=$(for dir; do ! grep -qs '^func Fuzz' "$dir"/*_test.go || echo "$dir"; done)
  [ -n "$targets" ] || return 0
  kind=fuzz tests go test -count=1 -timeout 40m $(printf -- '-gcflags=%s=-d=libfuzzer ' $guiding) \
    -exec "$PWD/scripts/fuzzer $runs" $targets
}

# page: the chat's page in Chromium, at both widths and in both themes, judged by axe-core where there is npm.
page() {
  local axe=
  install chromium chromium
  if command -v npm >/dev/null; then
    (cd "$work" && npm pack --silent axe-core@4 >/dev/null && tar xzf axe-core-*.tgz)
    axe=$work/package/axe.min.js
  else
    echo "SKIPPED: without npm axe-core does not judge whether everybody can use the page."
  fi
  DECANT_AXE=$axe DECANT_BROWSER=must DECANT_FULL=1 tests go test -timeout 30m ./apps/chat/internal/server/page
}
