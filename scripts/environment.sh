# shellcheck shell=bash
# Sourced by the scripts of this repository: its phases, the Docker engine and the local Python environment.
# The script that sources this file runs in the repository's own folder from then on.

# With -h or --help, the comment at the head of the script is all that is wanted.
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit
fi

# shellcheck disable=SC2034 # paths on the command line are relative to it
caller_folder=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# The package is started hundreds of times: without byte code each start would compile it anew.
unset PYTHONDONTWRITEBYTECODE

# absolute PATH: the path as the caller means it, from the root.
absolute() { [[ $1 == /* ]] && printf '%s' "$1" || printf '%s' "$caller_folder/$1"; }

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

fail() {
  say "$@"
  exit 1
}

# known_phases: the names of the phases, one a line.
known_phases() {
  local file
  for file in ground-truth/*/phase.toml; do
    [[ -e $file ]] && basename "$(dirname "$file")"
  done
  return 0
}

# require_phase NAME: stops unless there is a phase of that name.
require_phase() {
  local phases
  phases=$(known_phases)
  grep -qxF -e "$1" <<<"$phases" && return
  fail "unknown phase '$1'; ground-truth/ has: ${phases//$'\n'/, }"
}

# phase_path PHASE: the folder of a phase: of a name below ground-truth/, or the path of one elsewhere, or of a repository
# with one in phase/.
phase_path() {
  if [[ $1 == */* && (-e $(absolute "$1")/phase.toml || -e $(absolute "$1")/phase/phase.toml) ]]; then
    absolute "$1"
  else
    require_phase "$1"
    echo "ground-truth/$1"
  fi
}

# engine_answers: whether a Docker engine can be used.
engine_answers() { command -v docker >/dev/null && docker info >/dev/null 2>&1; }

# require_engine: stops, with a way out, unless a Docker engine can be used.
require_engine() {
  engine_answers && return
  command -v docker >/dev/null \
    || fail "Docker is not installed; see https://docs.docker.com/engine/install/"
  fail "no Docker engine answers ($(docker info 2>&1 >/dev/null | tail -n 1))." \
    "Start it (Linux: sudo systemctl start docker; Docker Desktop: open it) and try again."
}

# build_to_run PHASE: builds evaluation-PHASE:run, with the layers of ./build.sh and without its labels, by the engine
# alone; what the build says is shown only where it fails.
build_to_run() {
  local log
  log=$(mktemp)
  if ! BUILDX_NO_DEFAULT_ATTESTATIONS=1 docker build --tag "evaluation-$1:run" --build-arg PHASE="$1" . >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail "the image of $1 could not be built"
  fi
  rm -f "$log"
}

# organise IMAGE OPTION… -- ARGUMENT…: runs a command for organisers in a phase's image. The image has no code for them:
# it is mounted from this repository. As root, since that folder may be readable for its owner alone.
organise() {
  local image=$1 options=()
  shift
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  docker run --rm --network none --read-only --tmpfs /tmp:mode=1777 --user 0 "${options[@]}" \
    --mount "type=bind,source=$PWD/evaluation/organiser,target=/opt/evaluation/evaluation/organiser,readonly" \
    "$image" "${@:2}"
}

# find_python: the newest usable Python, 3.11 or later, with venv.
find_python() {
  local candidate
  for candidate in python3.13 python3.12 python3.11 python3; do
    if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  fail "found no Python 3.11 or later with venv (on Debian and Ubuntu: sudo apt install python3-venv)"
}

# local_environment REQUIREMENTS: makes .venv hold what that file pins, unless it already does.
# A copy of the file, put there last, marks a finished installation.
local_environment() {
  local requirements=$1 python
  [[ -x .venv/bin/python ]] && cmp -s "$requirements" ".venv/$requirements" && return
  say "installing $requirements into .venv (up to a minute)"
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    "$python" -m venv --clear .venv || fail "could not make the environment .venv"
  fi
  # Byte code is written at the first import, of what is imported, rather than of all packages here.
  local install=(.venv/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-compile)
  command -v uv >/dev/null && install=(uv pip install --quiet --python .venv/bin/python)
  "${install[@]}" --require-hashes --requirement "$requirements" \
    || fail "could not install $requirements into .venv"
  cp "$requirements" .venv/
  # what the site needs includes, in the same versions, what the tests need, and that what the package needs
  [[ $requirements == requirements.txt ]] || cp requirements.txt .venv/
  [[ $requirements != requirements-docs.txt ]] || cp requirements-dev.txt .venv/
}
