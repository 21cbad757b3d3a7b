#!/usr/bin/env bash
# Recomputes what the papers of the five challenges print, from other numbers that they print.
#
#   examples/published/reproduce.sh [FOLDER]
#
# Prints ours beside printed, known misprints with their reason. Fails where a figure differs without one. Runs in the
# local environment .venv, which it makes itself, or with the interpreter PYTHON.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/environment.sh"

output=$(absolute "${1:-$(mktemp -d)}")
mkdir -p "$output"
repository=$PWD
python=${PYTHON:-$repository/.venv/bin/python}
[[ -n ${PYTHON:-} ]] || local_environment requirements.txt
cd examples/published
export PYTHONPATH="$repository${PYTHONPATH:+:$PYTHONPATH}"
status=0

rank() { # NAME ARGUMENTS…: leaderboard.csv of NAME.csv
  local name=$1
  shift
  "$python" -m evaluation rank "$output/$name.csv" --output "$output/$name" "$@" >"$output/$name.txt"
}
final() { # TITLE NAME OFFLINE_ROLE ARGUMENTS…: both phases, the first with the values of the teams in reverse order
  local title=$1 name=$2 role=$3
  shift 3
  "$python" table.py reverse "$output/$name.csv" >"$output/$name-$role.csv"
  "$python" -m evaluation rank "$role=$output/$name-$role.csv" "onsite=$output/$name.csv" \
    --output "$output/$name-final" "$@" >"$output/$name-final.txt"
  "$python" table.py final "$title" "$output/$name-final/leaderboard.csv" "$role=0.3" onsite=0.7 || status=1
}
input() { # NAME TABLES ADDED…
  local name=$1
  shift
  "$python" table.py input "$@" >"$output/$name.csv"
}
compare() { # TITLE NAME TABLE OURS=PRINTED…
  local title=$1 name=$2
  shift 2
  "$python" table.py compare "$title" "$output/$name/leaderboard.csv" "$@" || status=1
}

changes() { # TITLE NAME TABLE
  "$python" table.py changes "$1" "$output/$2/leaderboard.csv" "$3" || status=1
}

classification=tables/refuge_table4_classification.csv segmentation=tables/refuge_table6_segmentation.csv
grep -v "Ground truth" "$classification" >"$output/refuge_table4_teams.csv"

input refuge "$output/refuge_table4_teams.csv,$segmentation"
metrics=(--metric auc=higher --metric dice_cup=higher --metric dice_disc=higher --metric vcdr_mae=lower)
rank refuge --scheme refuge.toml "${metrics[@]}"
compare "REFUGE Table 4, ranks" refuge "$classification" "classification place=rank"
compare "REFUGE Table 6" refuge "$segmentation" "segmentation place=rank" "segmentation score=score" \
  "results.dice_cup rank=dice_cup_rank" "results.dice_disc rank=dice_disc_rank" \
  "results.vcdr_mae rank=vcdr_mae_rank"
printf '\nREFUGE, on-site order from Tables 4 and 6\n'
"$python" table.py order "$output/refuge/leaderboard.csv" overall
# No off-line values are printed.
final "REFUGE Eq. 5, with a made-up off-line set" refuge offline --scheme refuge.toml "${metrics[@]}"

# One team is not printed in ADAM's tables. With these values it takes the ranks that the tables leave free.
lesions=0.32605,0.19865,0.32565,0.17855,0.18155,0.10935,0.40385,0.10025,0.06985,0.01005

input adam3 tables/adam_table3_classification.csv
rank adam3 --metric auc=higher
compare "ADAM Table 3" adam3 tables/adam_table3_classification.csv "overall place=rank"

input adam5 tables/adam_table5_disc.csv "(not printed)=0.91,0.96"
rank adam5 --metric dice=higher,weight=0.6 --metric f1=higher,weight=0.4
compare "ADAM Table 5" adam5 tables/adam_table5_disc.csv "overall place=rank"

input adam7 tables/adam_table7_fovea.csv,tables/adam_section4_3_fovea.csv "(not printed)=100"
rank adam7 --metric euclidean_distance=lower
compare "ADAM Table 7" adam7 tables/adam_table7_fovea.csv "overall place=rank"
changes "ADAM section 4.3, fovea without additional data, %" adam7 tables/adam_section4_3_fovea.csv

# A team without a task is last in it.
metrics=()
for lesion in drusen exudate hemorrhage scar other; do
  metrics+=(--metric "${lesion}_dice=higher,weight=0.6,worst=0" --metric "${lesion}_f1=higher,weight=0.4,worst=0")
done
input adam9 tables/adam_table9_lesions.csv,tables/adam_table13_additional_data.csv "(not printed)=$lesions"
rank adam9 "${metrics[@]}"
compare "ADAM Table 9" adam9 tables/adam_table9_lesions.csv "overall place=rank"
changes "ADAM Table 13, lesions without additional data, %" adam9 tables/adam_table13_additional_data.csv

input adam tables/adam_table3_classification.csv,tables/adam_table5_disc.csv,tables/adam_table7_fovea.csv,tables/adam_table9_lesions.csv \
  "(not printed)=0.85,0.91,0.96,100,$lesions"
metrics+=(--metric "auc=higher,worst=0" --metric "dice=higher,worst=0" --metric "f1=higher,worst=0")
metrics+=(--metric euclidean_distance=lower)
rank adam --scheme adam.toml "${metrics[@]}"
printf '\nADAM, on-site order from Tables 3, 5, 7 and 9: XxlzT and TeamTiger tie at 8.3, the classification decides\n'
"$python" table.py order "$output/adam/leaderboard.csv" overall
final "ADAM Eq. 6, with a made-up online set" adam online --scheme adam.toml "${metrics[@]}"

# EDD2020 and JustRAIGS print formulas and no results: their scores from the parts of the bundled phases.
for phase in edd2020 justraigs-phase1; do
  rm -rf "$output/ground-truth"
  cp -r "$repository/ground-truth/$phase" "$output/ground-truth"
  # The parts are for the organiser alone there: here all are shown.
  sed -i '/^\[metric_detail\]/,/^$/d' "$output/ground-truth/phase.toml"
  "$python" -m evaluation seal "$output/ground-truth" >"$output/seal.txt" 2>&1
  "$python" -m evaluation evaluate --input "$repository/test/input/$phase" \
    --ground-truth "$output/ground-truth" --output "$output/$phase" --workers 0 >"$output/evaluate.txt" 2>&1
done
"$python" figures.py "$output/edd2020/metrics.json" "$output/justraigs-phase1/metrics.json" || status=1
exit "$status"
