#!/usr/bin/env bash
# Proves that two checkouts of this repository compute the same, byte for byte: before and after a refactoring.
#
#   scripts/same_bytes.sh OLD NEW
#
# OLD, NEW  checkouts, or worktrees (git worktree add FOLDER COMMIT); nothing is written to them
#
# OLD makes the input, once: it seals the bundled phases and the examples, with a fixed nonce, and writes samples with
# teams. Then each checkout runs its own code on it, in the same environment: `evaluate` of every bundled submission, of
# every example's and of the teams (metrics.json, cases.json), `rank` of the teams (leaderboard.json), and the messages
# to participants (test/messages/table.json). Prints where a file differs, and last how many were compared and differ.
# The status is 1 if any differs or a command of NEW fails, 2 if a command of OLD fails.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

[[ $# -eq 2 ]] || fail "expected two checkouts. Usage: scripts/same_bytes.sh OLD NEW"
old=$(absolute "$1") new=$(absolute "$2")
local_environment requirements-dev.txt
python=$PWD/.venv/bin/python
scratch=$(cd "$(mktemp -d)" && pwd -P)
trap 'jobs -p | xargs -r kill 2>/dev/null; rm -rf "$scratch"' EXIT

# A checkout may be edited or tested meanwhile, and `test.messages` writes into it: copies run.
copy_checkout() { # SIDE CHECKOUT
  mkdir -p "$scratch/$1/code" "$scratch/$1/results"
  cp -R "$2"/{evaluation,test,ground-truth,examples} "$scratch/$1/code/" || fail "$2 is not a checkout"
  find "$scratch/$1/code" -name __pycache__ -prune -exec rm -rf {} +
  rm -f "$scratch/$1/code/test/messages/table.json"
}
# run SIDE ARGUMENTS…: Python with the code of that side, and of no other; notes a failure and goes on.
run() {
  local side=$1
  shift
  (cd "$scratch/$side/code" && PYTHONPATH=$PWD PYTHONSAFEPATH=1 PYTHONNOUSERSITE=1 "$python" "$@") \
    >"$scratch/$side/log" 2>&1 && return
  touch "$scratch/$side/failed"
  say "$side: failed: python $*"$'\n'"$(tail -n 3 "$scratch/$side/log")"
}
seal() { # PHASE: with a fixed nonce, so that every run makes the same seal
  rm -f "$1/manifest.json"
  printf '%032d' 0 >"$1/.nonce"
  run old -m evaluation seal "$1"
}
phases() { ls "$scratch/phases"; }
teams() { ls "$scratch/teams"; }

prepare() {
  local code=$scratch/old/code phase name
  mkdir "$scratch"/{phases,submissions,teams}
  for phase in "$code"/ground-truth/*/phase.toml; do
    name=$(basename "$(dirname "$phase")")
    cp -R "$code/ground-truth/$name" "$scratch/phases/"
    cp -R "$code/test/input/$name" "$scratch/submissions/"
  done
  for phase in "$code"/examples/*/sample.py; do
    name=$(basename "$(dirname "$phase")")
    run old "$phase" "$scratch/example"
    mv "$scratch/example/phase" "$scratch/phases/$name"
    mv "$scratch/example/submission" "$scratch/submissions/$name"
    rm -r "$scratch/example"
  done
  # Teams of known quality; of a declared challenge, which has no such sample, one that gave only part of its findings.
  run old -m evaluation sample adam --output "$scratch/teams/adam" --cases 45 --width 96 --height 96
  run old -m evaluation sample cysts --output "$scratch/teams/cysts" --cases 8 --scale 0.15 --readers
  run old -m evaluation sample edd2020 --output "$scratch/teams/edd2020" --cases 12 --out-of-sample 6 \
    --width 96 --height 80
  run old -m evaluation sample justraigs --output "$scratch/teams/justraigs" --cases 200
  run old -m evaluation sample refuge --output "$scratch/teams/refuge" --cases 40 --width 96 --height 96
  for name in 1 2; do
    phase=justraigs-sample-phase$name
    mkdir -p "$scratch/teams/$phase/ground-truth"
    mv "$scratch/teams/justraigs/ground-truth/$phase" "$scratch/teams/$phase/ground-truth/"
    mv "$scratch/teams/justraigs/submissions/$phase" "$scratch/teams/$phase/submissions"
  done
  rm -r "$scratch/teams/justraigs"
  mkdir -p "$scratch"/teams/luna16/{ground-truth,submissions/{all,half}}
  cp -R "$scratch/phases/luna16" "$scratch/teams/luna16/ground-truth/"
  cp "$scratch/submissions/luna16/predictions.csv" "$scratch/teams/luna16/submissions/all/"
  awk 'NR % 2' "$scratch/submissions/luna16/predictions.csv" >"$scratch/teams/luna16/submissions/half/predictions.csv"
  for phase in "$scratch"/phases/* "$scratch"/teams/*/ground-truth/*; do
    seal "$phase"
  done
}

compute() { # SIDE
  local results=$scratch/$1/results code=$scratch/$1/code name
  # Python looks there first; the check is that nothing else was found.
  run "$1" -c "import evaluation, test
for package in (evaluation, test):
    assert package.__file__ == f'$code/{package.__name__}/__init__.py', package.__file__"
  for name in $(phases); do
    run "$1" -m evaluation evaluate --input "$scratch/submissions/$name" --ground-truth "$scratch/phases/$name" \
      --output "$results/phases/$name" --cases "$results/phases/$name/cases.json"
  done
  for name in $(teams); do
    run "$1" -m evaluation evaluate --each "$scratch/teams/$name/submissions" \
      --ground-truth "$scratch/teams/$name/ground-truth/"* --output "$results/teams/$name"
    run "$1" -m evaluation rank "$results/teams/$name" --output "$results/leaderboards/$name"
    # `rank` draws with the seed that the results name: once more with another one.
    cp -R "$results/teams/$name" "$scratch/$1/seeded-$name"
    sed -i.bak 's/"seed": [0-9]*/"seed": 20261/' "$scratch/$1/seeded-$name"/*/cases.json
    run "$1" -m evaluation rank "$scratch/$1/seeded-$name" --output "$results/leaderboards/$name-seeded" \
      --scheme rank-then-mean --resamples 300 --permutations 999 --no-influence
  done
  run "$1" -m test.messages
  mv "$code/test/messages/table.json" "$results/"
}

copy_checkout old "$old"
copy_checkout new "$new"
prepare &
wait $! || touch "$scratch/old/failed"
if [[ ! -e $scratch/old/failed ]]; then
  compute old &
  old_job=$!
  compute new &
  wait "$old_job" || touch "$scratch/old/failed"
  wait $! || touch "$scratch/new/failed"
fi
if [[ -e $scratch/old/failed ]]; then
  say "OLD failed: nothing is proved"
  exit 2
fi

compared=0 differing=0
while read -r file; do
  compared=$((compared + 1))
  cmp -s "$scratch/old/results/$file" "$scratch/new/results/$file" && continue
  differing=$((differing + 1))
  printf 'differs: %s\n' "$file"
  diff <("$python" -m json.tool "$scratch/old/results/$file" 2>&1) \
    <("$python" -m json.tool "$scratch/new/results/$file" 2>&1) | head -n 6 || true
done < <(cd "$scratch" && find {old,new}/results \
  \( -name metrics.json -o -name cases.json -o -name leaderboard.json -o -name table.json \) | cut -d/ -f3- | sort -u)
printf '%d files compared, %d differ\n' "$compared" "$differing"
[[ $differing -eq 0 && ! -e $scratch/new/failed ]]
