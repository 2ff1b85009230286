#!/usr/bin/env bash
# Section III of the paper, from poses to policies, on one machine with an NVIDIA GPU.
# Every part can be run again, and goes on where it was interrupted:
#
#   experiments/paper/run.sh study       # 1000 poses, 999,000 pairs, all clusterings: 2 minutes on an H200
#   experiments/paper/run.sh recovery    # six distributions, 10 seeds, 1600 episodes: 20 minutes
#   experiments/paper/run.sh backflip    # the same for backflips
#   experiments/paper/run.sh tests       # 500 unseen poses for all policies, and the report
set -euo pipefail
cd "$(dirname "$0")/../.."

STUDY=${STUDY:-runs/paper}
ROBOT=${ROBOT:-bittle}
SEEDS=${SEEDS:-10}
EPISODES=${EPISODES:-1600}
STARTS=${STARTS:-"ka km wkm 9-pose 1-pose rnd"}
KACCESS=${KACCESS:-kaccess}

study() {
  $KACCESS sample "$ROBOT" "$STUDY" --n 1000
  $KACCESS access "$STUDY" --engine warp
  for method in kaccess kmeans weighted-kmeans kmedoids louvain spectral; do
    $KACCESS cluster "$STUDY" --method $method
  done
}

train() {
  $KACCESS train "$STUDY" --task "$1" --starts $STARTS --seeds "$SEEDS" --episodes "$EPISODES" \
    --test-every 50 --test-poses 100 --test-engine warp --device cuda \
    --sac.envs-per-learner 8 --sac.compiled
}

tests() {
  $KACCESS evaluate "$STUDY" --poses 500
  $KACCESS report "$STUDY"
}

case "${1:-}" in
  study) study ;;
  recovery) train fall-recovery ;;
  backflip) train backflip ;;
  tests) tests ;;
  *) sed -n '2,9s/^# \?//p' "$0"; exit 2 ;;
esac
