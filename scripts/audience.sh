#!/usr/bin/env bash
# Runs a submission in the container as faithfully as Docker can run it like the platform, and prints what the
# participant, the public and the organiser would each see.
#
#   ./run.sh --audience PHASE SUBMISSION [SECONDS]
#
# SUBMISSION  a zip, a csv file, or a folder with what one of them holds
# SECONDS     the time limit of the phase, by default 3600
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

[[ $# -eq 2 || $# -eq 3 ]] || fail "Usage: ./run.sh --audience PHASE SUBMISSION [SECONDS]"
phase=$1 submission=$2 seconds=${3:-3600}
require_phase "$phase"
[[ $submission == /* ]] || submission=$caller_folder/$submission
[[ -e $submission ]] || fail "there is no submission $submission"
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "the time limit is '$seconds'; expected seconds"
require_engine

scratch=$(mktemp -d)
container='' volume=''
# shellcheck disable=SC2329 # called by the trap
clean_up() {
  [[ -z $container ]] || docker rm --force "$container"
  [[ -z $volume ]] || docker volume rm --force "$volume"
  rm -rf "$scratch"
} >/dev/null 2>&1
trap clean_up EXIT

image=evaluation-$phase
say "building $image"
if ! ./build.sh "$phase" >"$scratch/log" 2>&1; then
  cat "$scratch/log" >&2
  exit 1
fi
mkdir "$scratch/run" "$scratch/run/output"
chmod 0755 "$scratch" "$scratch/run"
chmod 0777 "$scratch/run/output"
run=(docker run --rm --network none)
"${run[@]}" "$image" settings ground-truth >"$scratch/run/settings.json"

# The submission, unpacked as the platform does, owned by root and readable for all.
volume=$(docker volume create)
inside=/mnt/submission/$(basename "$submission")
# shellcheck disable=SC2016 # expanded in the container
if ! "${run[@]}" --user 0 --entrypoint sh \
  --mount "type=volume,source=$volume,target=/mnt/input" \
  --mount "type=bind,source=$submission,target=$inside,readonly" \
  "$image" -c 'python -m evaluation unpack "$1" /mnt/input && chmod -R a=rX,u+w /mnt/input' sh "$inside"; then
  fail "the platform cannot unpack this submission: no container is started"
fi

# Variables of the image that the platform strips; named without a value, they are not set.
stripped=()
while IFS= read -r variable; do
  [[ ${variable^^} != GRAND_CHALLENGE_* ]] || stripped+=(--env "${variable%%=*}")
done < <(docker image inspect --format '{{range .Config.Env}}{{println .}}{{end}}' "$image")
for ((i = 1; i < ${#stripped[@]}; i += 2)); do unset "${stripped[i]}"; done

# 8 GB less 1 GB, as a limit of the machine and of each process. As on the platform, SIGTERM goes to all processes.
memory=$((7 << 30))
container=$(docker create --init --env TINI_KILL_PROCESS_GROUP=1 "${stripped[@]}" --network none --cpus 2 \
  --memory "$memory" --memory-swap "$memory" --ulimit "data=$memory" --pids-limit 128 --cap-drop ALL \
  --security-opt no-new-privileges --tmpfs /tmp:mode=1777,exec \
  --mount "type=volume,source=$volume,target=/mnt/input,readonly" \
  --mount "type=bind,source=$scratch/run/output,target=/output" "$image")
# On the platform /input is a link to the folder.
ln -s /mnt/input "$scratch/input"
tar --create --directory "$scratch" input | docker cp - "$container:/" >/dev/null

say "evaluating $submission, for at most $seconds s"
docker start "$container" >/dev/null
if ! timeout "$seconds" docker wait "$container" >"$scratch/run/status"; then
  docker stop --time 5 "$container" >/dev/null
  echo stopped >"$scratch/run/status"
fi
docker logs "$container" >"$scratch/run/stdout" 2>"$scratch/run/stderr"
chmod -R a+rX "$scratch/run" 2>/dev/null || true
"${run[@]}" --mount "type=bind,source=$scratch/run,target=/mnt/run,readonly" "$image" audience /mnt/run
