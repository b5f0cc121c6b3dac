#!/usr/bin/env bash
# Runs the tests that depend on their environment under unusual ones, and prints a line for each.
#
#   tests/environments.sh           every environment (`make environments`)
#   tests/environments.sh NAME…     those that are named
#   tests/environments.sh --list    the names
#
# PYTHON is the interpreter, .venv/bin/python by default. An environment that this machine cannot
# make is skipped with the reason. Exit code 0: every environment that was made passes; 1: one
# fails; 2: wrong usage. Whatever is made is removed, also after Ctrl-C.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
python=$(realpath -s "${PYTHON:-.venv/bin/python}")
limit=900 # seconds of an environment, on a busy machine too; then it is interrupted

# Which tests are run: files, and the reason why they depend on the environment.
processes=(
  tests/common/test_executor.py     # worker processes: executors, how many there are
  tests/common/test_processes.py    # … how they are started, what they inherit, how they end
  tests/engines/test_fork.py        # children of fork, threads
  tests/parallel/sharding           # shared memory, pipes, processes that wake each other
  tests/synthesis/test_abc.py       # foreign programs
  tests/twolevel/test_covering.py   # a solver in a child
)
files=(
  tests/batches/test_resume.py      # unfinished folders, locks
  tests/checker/test_verify.py      # a folder that is checked in an interpreter of its own
  tests/common/test_cache.py        # private folders: owners, modes
  tests/common/test_loops.py        # numba's caches: beside the source, or the user's
  tests/common/test_places.py       # folders of several users, object stores
  tests/test_cli.py                 # outputs of commands, home folders
  tests/test_dependencies.py        # what is installed, a wheel
  tests/test_files.py               # files that are replaced whole; devices, pipes, links
  tests/test_store.py               # caches below the home folder; modes of shared folders
)
texts=(
  tests/test_cli_doctor.py          # what is installed, as text
  tests/test_cli_evaluate.py        # numbers and names in files
  tests/test_docs.py                # pages of the documentation are UTF-8
  tests/test_text.py
  tests/problem/robot/test_urdf.py  # XML files
  tests/pages                       # HTML files
)
tools=(
  tests/hardware
  tests/measure/test_cycles.py
  tests/show/test_show_browser.py
  tests/targets/test_bdd.py
  tests/targets/test_languages.py
  tests/targets/test_tools.py
)
network=(
  tests/batches/test_terms.py
  tests/common/test_places.py
  tests/sweep/test_dask.py
)
interrupted=( # all tests with `interrupt` or `ctrl_c` in their names
  tests/batches/test_workers.py
  tests/common/test_processes.py
  tests/parallel/sharding/test_pool.py
  tests/sweep/test_sweep.py
  tests/test_cli_minimize.py
  tests/test_cli_safety.py
)
foreign_tools=( # what `without-tools` takes out of PATH, as patterns
  'chromium*' 'chromedriver' 'google-chrome*' iverilog vvp 'ghdl*' 'verilator*' 'simavr*' 'avr-*'
  'arm-none-eabi-*' 'qemu-*'
)

environments=(
  background empty c-locale time-zone umask temporary-shm no-home unwritable-home read-only one-cpu
  no-loopback without-tools other-user
)
failed=0 scratch='' shm='' job=''

main() {
  case ${1-} in
    --list) printf '%s\n' "${environments[@]}"; exit 0 ;;
    -*) echo "environments.sh: no option $1: --list, or names of environments" >&2; exit 2 ;;
  esac
  for name in "$@"; do
    [[ " ${environments[*]} " == *" $name "* ]] || {
      echo "environments.sh: no environment '$name': ${environments[*]}" >&2
      exit 2
    }
  done
  "$python" -c 'import pytest, boolcomp' || {
    echo "environments.sh: $python cannot import pytest and boolcomp: run make test first" >&2
    exit 1
  }
  trap clean EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/boolcomp-environments.XXXXXX") || exit 1
  chmod 711 "$scratch"
  export TMPDIR=$scratch/tmp
  mkdir "$TMPDIR"
  [ $# -gt 0 ] || set -- "${environments[@]}"
  for name in "$@"; do "in_$name"; done
  exit $failed
}

clean() {
  trap '' INT TERM HUP
  if [ -n "$job" ] && kill -INT "$job" 2> /dev/null; then
    for _ in {1..50}; do
      kill -0 "$job" 2> /dev/null || break
      sleep 0.1
    done
    kill -KILL -- "-$job" 2> /dev/null
  fi
  for folder in "$scratch" "$shm"; do
    [ -z "$folder" ] || { chmod -R u+rwX "$folder" 2> /dev/null; rm -rf "$folder"; }
  done
}

# Runs a command that ends with pytest's arguments, and prints the line of an environment. `timeout`
# gives it a process group of its own, and the signals that this script may ignore their defaults.
run() {
  local name=$1 log=$scratch/$1.log code begin=$SECONDS counts
  shift
  timeout -s INT -k 20 "$limit" "$@" > "$log" 2>&1 < /dev/null &
  job=$!
  wait "$job"
  code=$?
  job=''
  counts=$(tail -n 1 "$log")
  printf '%-16s %4d passed %4d skipped %4d failed %4d s\n' "$name" "$(count passed "$counts")" \
    "$(count skipped "$counts")" \
    $(($(count failed "$counts") + $(count 'errors?' "$counts"))) $((SECONDS - begin))
  if [ $code -ne 0 ]; then
    failed=1
    [ $code -ne 124 ] || echo "    not finished within $limit s"
    grep -E '^(FAILED|ERROR) ' "$log" | sed 's/^/    /' || tail -n 20 "$log" | sed 's/^/    /'
    [ -z "${VERBOSE-}" ] || cat "$log"
  fi
}

count() {
  local found
  found=$(grep -oE "[0-9]+ $1\b" <<< "$2") && echo "${found%% *}" || echo 0
}

# Copies the compiled loops to a folder for NUMBA_CACHE_DIR: who cannot write beside the sources
# would compile them for minutes.
copy_loops() {
  "$python" - "$root/boolcomp" "$1" << 'END'
import shutil, sys
from pathlib import Path
from numba.core.caching import _CacheLocator
for found in Path(sys.argv[1]).rglob("__pycache__/*.nb[ic]"):
    source = found.parents[1]
    target = Path(sys.argv[2], _CacheLocator.get_suitable_cache_subpath(str(source / "any.py")))
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy2(found, target)
END
}

skip() {
  printf '%-16s skipped: %s\n' "$1" "$2"
}

pytest=("$python" -m pytest -q -p no:cacheprovider --timeout "$limit")
marks='not slow and not check'
quick=("${pytest[@]}" -m "$marks")

in_background() {
  # shellcheck disable=SC2016
  run background sh -c 'trap "" INT HUP; exec "$@"' sh "${pytest[@]}" -k 'interrupt or ctrl_c' \
    "${interrupted[@]}"
}

in_empty() {
  run empty env -i PATH=/usr/bin:/bin "${quick[@]}" --basetemp "$scratch/empty" \
    "${processes[@]}" "${files[@]}" "${texts[@]}"
}

in_c-locale() {
  run c-locale env LC_ALL=C "${quick[@]}" "${files[@]}" "${texts[@]}"
}

in_time-zone() {
  run time-zone env TZ=XYZ-13:45 "${quick[@]}" "${files[@]}" "${texts[@]}"
}

in_umask() {
  # shellcheck disable=SC2016
  run umask sh -c 'umask 077; exec "$@"' sh "${quick[@]}" "${processes[@]}" "${files[@]}"
}

in_temporary-shm() {
  shm=$(mktemp -d /dev/shm/boolcomp-environments.XXXXXX 2> /dev/null) || {
    skip temporary-shm 'there is no /dev/shm'
    return
  }
  run temporary-shm env TMPDIR="$shm" "${quick[@]}" "${processes[@]}" "${files[@]}"
}

in_no-home() {
  run no-home env -u HOME -u XDG_CACHE_HOME "${quick[@]}" "${files[@]}" "${texts[@]}"
}

in_unwritable-home() { # in /proc nobody can make a file, whoever it is
  [ -d /proc/self ] || { skip unwritable-home 'there is no /proc'; return; }
  run unwritable-home env -u XDG_CACHE_HOME HOME=/proc "${quick[@]}" "${files[@]}" "${texts[@]}"
}

in_read-only() {
  local command='mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'
  local kind
  copy_loops "$scratch/loops"
  for kind in -m -rm; do
    if unshare "$kind" sh -c "$command" "$root" true 2> /dev/null; then
      run read-only env NUMBA_CACHE_DIR="$scratch/loops" unshare "$kind" sh -c "$command" "$root" \
        "$python" -m pytest -q --timeout "$limit" -m "$marks" "${processes[@]}" \
        "${files[@]}" "${texts[@]}"
      return
    fi
  done
  skip read-only 'a read-only mount needs root or user name spaces'
}

in_one-cpu() {
  local first
  first=$(taskset -cp $$ 2> /dev/null | grep -oE '[0-9]+' | sed -n 2p) || true
  [ -n "$first" ] || { skip one-cpu 'there is no taskset'; return; }
  run one-cpu taskset -c "$first" "${quick[@]}" "${processes[@]}"
}

in_no-loopback() {
  local kind
  for kind in -n -cn; do
    if unshare "$kind" true 2> /dev/null; then
      run no-loopback unshare "$kind" "${pytest[@]}" "${network[@]}"
      return
    fi
  done
  skip no-loopback 'a network name space needs root or user name spaces'
}

in_without-tools() {
  local folder=$scratch/bin folders pattern
  mkdir "$folder"
  IFS=: read -ra folders <<< "$PATH"
  for place in "${folders[@]}"; do
    [ ! -d "$place" ] || ln -s "$place"/* "$folder/" 2> /dev/null # the first of a name stays
  done
  for pattern in "${foreign_tools[@]}"; do
    # shellcheck disable=SC2086
    rm -f "$folder"/$pattern
  done
  run without-tools env PATH="$folder" "${pytest[@]}" "${tools[@]}"
}

in_other-user() {
  local user home=$scratch/home
  [ "$(id -u)" -eq 0 ] || { skip other-user 'only root can become another user'; return; }
  user=$(id -u nobody 2> /dev/null) || user=65534
  mkdir "$home" "$home/tmp" "$scratch/base"
  copy_loops "$home/loops"
  chown -R "$user" "$home"
  become=(setpriv --reuid="$user" --regid="$user" --clear-groups)
  others_can_run || open_interpreter
  others_can_run || {
    skip other-user "user $user cannot run $python"
    return
  }
  run other-user "${become[@]}" env -u XDG_CACHE_HOME HOME="$home" TMPDIR="$home/tmp" \
    NUMBA_CACHE_DIR="$home/loops" "${quick[@]}" "${processes[@]}" "${files[@]}" "${texts[@]}"
}

others_can_run() {
  "${become[@]}" env "$python" -c 'import boolcomp, pytest' 2> /dev/null
}

# Where the interpreter lies below a folder that others may not enter, such as /root, a folder that
# holds nothing else takes its place, in a mount name space: nobody else sees that.
open_interpreter() {
  # shellcheck disable=SC2016
  local command='mount --bind "$1" "$2" && mount -t tmpfs -o mode=755 none "$0" && mkdir -p "$1" &&
    mount --bind "$2" "$1" && shift 2 && exec "$@"'
  local base folder closed=''
  base=$("$python" -c 'import sys; print(sys.base_prefix)')
  folder=$base
  while [ "$folder" != / ]; do
    [[ $(stat -c %A "$folder") == *x ]] || closed=$folder
    folder=$(dirname "$folder")
  done
  become=(unshare -m sh -c "$command" "${closed:-$base}" "$base" "$scratch/base" "${become[@]}")
}

main "$@"
