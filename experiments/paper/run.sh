#!/usr/bin/env bash
# Section III of the paper, from poses to policies, on one machine with an NVIDIA GPU.
# Every part resumes where it was interrupted when run again:
#
#   experiments/paper/run.sh study       # 1000 poses, 999,000 pairs, all clusterings: 2 minutes on an H200
#   experiments/paper/run.sh recovery    # six distributions and one guided, 5 seeds, 1600 episodes: 17 minutes
#   experiments/paper/run.sh seeds       # five more seeds of these but 1-pose: 14 minutes
#   experiments/paper/run.sh guided      # guided or not, 10 seeds, 250 episodes: 4 minutes
#   experiments/paper/run.sh harder      # the same under six conditions, and on bittle-real: 20 minutes
#   experiments/paper/run.sh backflip    # five distributions and two guided, for backflips: 20 minutes
#   experiments/paper/run.sh gamma       # the same without guided-ka, with gamma 0.95 (after backflip): 14 minutes
#   experiments/paper/run.sh robust      # ka against rnd with other settings of SAC, another reward, and PPO, 10 seeds; see there
#   experiments/paper/run.sh returns     # guided or not, and backflips, with n-step returns (after guided and backflip): 25 minutes, and tests
#   experiments/paper/run.sh tests       # 500 unseen poses for all policies, 10,000 for the best, the report, the tables
#   experiments/paper/run.sh tables      # every table of docs/results.md from the files in results/, no GPU: a minute
#   experiments/paper/run.sh as-published  # the paper as written, on poses drawn its way and ours: 20 minutes; reduced, on a CPU core: see there
#   experiments/paper/run.sh in-pybullet   # the same with fewer poses and starts in PyBullet, on a CPU core; run reduced too
set -euo pipefail
cd "$(dirname "$0")/../.."

STUDY=${STUDY:-runs/paper}
ROBOT=${ROBOT:-bittle}
SEEDS=${SEEDS:-5}
EPISODES=${EPISODES:-1600}
STARTS=${STARTS:-"ka km wkm 9-pose 1-pose rnd"}
LIKE_PAPER="--episode-steps 300 --sac.envs-per-learner 1 --sac.updates 1 --sac.hidden 256 256 --sac.batch-size 256
  --sac.learning-rate 3e-4 --sac.warmup-steps 5000 --sac.policy-tau 1"  # the defaults of the stored results; those of today have 64 robots
MACHINE="--test-poses 100 --test-engine warp --device cuda --sac.envs-per-learner 8 --sac.updates 8 --sac.compiled"
COMMON="$MACHINE --sac.return-steps 1"  # except in the part "returns", after which 4 became the default
HARDER=results/paper/harder
RETURNS=results/paper/returns
KACCESS=${KACCESS:-kaccess}
PYTHON=${PYTHON:-python}

train() {  # study, and settings other than the paper's
  $KACCESS train "$1" $LIKE_PAPER "${@:2}"
}

study() {
  $KACCESS sample "$ROBOT" "$STUDY" --n 1000
  $KACCESS access "$STUDY" --engine warp
  for method in kaccess kmeans weighted-kmeans kmedoids louvain infomap spectral; do
    $KACCESS cluster "$STUDY" --method $method
  done
}

recovery() {
  train "$STUDY" --starts $STARTS guided-rnd --seeds "$SEEDS" --episodes "$EPISODES" --test-every 50 $COMMON
}

copy() {  # because a study trains each learner once
  [ -d "$1" ] || { mkdir "$1" && cp -r "$STUDY"/{study.json,study.zarr,starts,clusters} "$1"; }
  [ ! -d "$STUDY/skills" ] || cp -r "$STUDY/skills" "$1"
}

intervals() {  # into the study first, because learners in a table are not tested again
  local table="$1/$(basename "$2")"
  $PYTHON experiments/paper/intervals.py "$1" --out "$table" "${@:3}"
  cp "$table" "$2"
  $PYTHON experiments/pool_scores.py "$2" --digits 2
}

evaluate_all() {
  for task in fall-recovery backflip; do
    $KACCESS evaluate "$1" --task $task --poses 500
    $KACCESS evaluate "$1" --task $task --poses 500 --best
  done
  $KACCESS evaluate "$1" --poses 500 --conditions delay=0.04
  $KACCESS report "$1"
}

seeds() {  # in a copy, because these were stopped by the clock, after 1080 episodes
  copy "$STUDY-seeds"
  train "$STUDY-seeds" --starts ka km wkm 9-pose rnd guided-rnd --seeds "$SEEDS" --first-seed "$SEEDS" \
    --episodes 1080 --test-every 50 $COMMON
  $KACCESS evaluate "$STUDY-seeds" --poses 500
  $KACCESS evaluate "$STUDY-seeds" --poses 500 --best
  $PYTHON experiments/paper/collect.py "$STUDY-seeds" results/paper/more-seeds --figures none
  intervals "$STUDY-seeds" results/paper/more-seeds/ten-thousand-poses.csv --kinds ka guided-rnd
  $PYTHON experiments/compare_starts.py results/paper/fall-recovery.csv --more results/paper/more-seeds/fall-recovery.csv \
    --planned ka --picture results/paper/ten-seeds.png
}

guided() {
  copy "$STUDY-guided"
  train "$STUDY-guided" --starts rnd kmedoids guided-rnd guided-kmedoids --seeds 10 --episodes 250 \
    --test-every 10 $COMMON
  $PYTHON experiments/compare_starts.py "$STUDY-guided/train/fall-recovery" --table results/paper/guided.csv \
    --planned guided-rnd --picture results/paper/guided.png
}

harder() {
  for conditions in delay=0.04 slope=10 torque=0.6 friction=0.3 friction=1.2 mass=2; do
    train "$STUDY" --conditions $conditions --starts rnd ka guided-rnd --seeds 10 --episodes 250 --test-every 10 $COMMON
    $PYTHON experiments/compare_starts.py "$STUDY/train/fall-recovery@$conditions" --table "$HARDER/$conditions.csv"
  done
  STUDY="$STUDY-real" ROBOT=bittle-real study
  train "$STUDY-real" --starts rnd ka guided-rnd --seeds 10 --episodes 250 --test-every 10 $COMMON
  $PYTHON experiments/compare_starts.py "$STUDY-real/train/fall-recovery" --table "$HARDER/bittle-real.csv"
  $PYTHON experiments/paper/harder.py "$HARDER" "$HARDER.png"
}

backflip() {
  # As in the paper, III-E. The stored results are older: there, all poses were clustered, and centroids left out afterwards.
  for method in kaccess kmeans weighted-kmeans; do
    $KACCESS cluster "$STUDY" --task backflip --method $method
  done
  $KACCESS search "$STUDY" --task backflip
  # Networks of 192 units, so that this policy and that of fall recovery fit into 1 MB.
  # A backflip cannot start from 1-pose, which lies on its back.
  train "$STUDY" --task backflip --starts ka km wkm 9-pose rnd guided-ka guided-rnd --seeds "$SEEDS" --episodes "$EPISODES" \
    --test-every 50 --sac.hidden 192 192 $COMMON
}

gamma() {
  copy "$STUDY-gamma"
  train "$STUDY-gamma" --task backflip --starts ka km wkm 9-pose rnd guided-rnd --seeds "$SEEDS" --episodes "$EPISODES" \
    --test-every 50 --sac.hidden 192 192 --sac.gamma 0.95 $COMMON
  $KACCESS evaluate "$STUDY-gamma" --task backflip --poses 500
  $KACCESS evaluate "$STUDY-gamma" --task backflip --poses 500 --best
  $PYTHON experiments/paper/collect.py "$STUDY-gamma" results/paper/gamma --task backflip --figures none
}

# Regardless of the learning algorithm, of its settings and of the reward? Each is changed in turn. STEPS are those of PPO. On one
# core: export EPISODE_STEPS=150 EPISODES=300 TEST_EVERY=25
#   ROBUST="--device cpu --threads 1 --test-poses 50 --sac.hidden 64 64 --sac.batch-size 64 --sac.learning-rate 1e-3"
robust() {
  local name task train options length=${EPISODE_STEPS:+--episode-steps $EPISODE_STEPS} own=${ROBUST:-$COMMON}
  for name in ${CHANGES:-plain short reward ppo}; do
    task=fall-recovery train=train options="--episodes $EPISODES --test-every ${TEST_EVERY:-50} $length $own"
    case $name in
      short) options="$options --sac.gamma 0.97 --sac.tau 0.02" ;;
      reward) task=get-up options="$options --task get-up" ;;
      ppo) train="$KACCESS train" options="--algorithm ppo --ppo.steps ${STEPS:-1000000} ${PPO:-}" length= ;;
    esac
    copy "$STUDY-robust-$name"
    $train "$STUDY-robust-$name" --starts ka rnd --seeds "${ROBUST_SEEDS:-10}" $options
    $PYTHON experiments/compare_starts.py "$STUDY-robust-$name/train/$task" $length --table results/paper/robust-$name.csv
  done
}

returns() {
  copy "$STUDY-returns-guided"
  train "$STUDY-returns-guided" --starts rnd ka guided-rnd guided-ka --seeds 10 --episodes 300 --test-every 10 \
    --sac.return-steps 4 $MACHINE
  $PYTHON experiments/compare_starts.py "$STUDY-returns-guided/train/fall-recovery" --table $RETURNS/guided.csv \
    --planned guided-rnd --picture $RETURNS/guided.png
  $PYTHON experiments/compare_starts.py $RETURNS/guided.csv --beside "1 step" results/paper/guided.csv --against "rnd, 1 step" \
    --planned guided-rnd
  copy "$STUDY-returns"
  train "$STUDY-returns" --starts guided-rnd guided-ka --seeds 10 --episodes "$EPISODES" --test-every 50 \
    --sac.return-steps 4 $MACHINE
  train "$STUDY-returns" --task backflip --starts ka km wkm 9-pose rnd guided-rnd --seeds "$SEEDS" --episodes "$EPISODES" \
    --test-every 50 --sac.hidden 192 192 --sac.return-steps 8 $MACHINE
  evaluate_all "$STUDY-returns"
  $KACCESS evaluate "$STUDY-returns" --poses 500 --conditions slope=10
  for task in fall-recovery backflip; do
    $PYTHON experiments/paper/collect.py "$STUDY-returns" $RETURNS --task $task --figures task
  done
  intervals "$STUDY-returns" $RETURNS/ten-thousand-poses.csv --kinds guided-ka guided-rnd
}

# The paper gives discount factor, episode length and number of episodes, and says no more about its SAC. So returns have one
# step. It describes no filter of joint targets, so there is none. Size and speed are set by POSES, SEEDS, EPISODES, HIDDEN,
# BATCH, RATE, ALPHA (initial entropy coefficient), DRAWS, MOVE_STARTS, BULLET_STARTS and TEST_POSES; KA has a quarter fewer episodes, as in Table II.
# The stored results in full-size/, on an H200, both draws at once in 20 minutes; their tests ran on CPU cores. The moved study
# is results/paper/study-1000.npz, unpacked by experiments/pack_study.py; its times are MuJoCo's, not Warp's:
#   export DEVICE=cuda SEEDS=5 PUBLISHED=results/as-published/full-size
#   DRAWS=teleport experiments/paper/run.sh as-published & DRAWS=move MOVE_STARTS="ka rnd" ENGINE=mujoco experiments/paper/run.sh as-published
# Seeds 5 to 9 of ka and rnd, and ka-free, were trained afterwards with the same settings (--first-seed 5), and added to the tables:
#   python experiments/paper/trapped.py runs/paper-published-teleport --free ka    # writes the starts ka-free
# The reduced ones, on one core:
#   export POSES=400 SEEDS=3 EPISODES=800 HIDDEN="64 64" BATCH=64 RATE=1e-3 ALPHA=0.02 THREADS=1
#   MOVE_STARTS="ka km rnd" experiments/paper/run.sh as-published
#   POSES=150 EPISODES=600 BULLET_STARTS="ka rnd" experiments/paper/run.sh in-pybullet    # stopped by the clock
PUBLISHED=${PUBLISHED:-results/as-published}
THREADS=${THREADS:-0}
PLAIN="--conditions filter=0 --test-every 50 --sac.return-steps 1 --sac.hidden ${HIDDEN:-256 256} --sac.batch-size ${BATCH:-256}
  --sac.learning-rate ${RATE:-3e-4} --sac.initial-alpha ${ALPHA:-1} --threads $THREADS"

train_as_published() {  # study, kinds of starts; KA and the others train at the same time, since KA has fewer episodes
  local kind others=() machine="--device cpu" options ka=
  [ "${DEVICE:-cpu}" = cpu ] || machine="--test-engine warp --device $DEVICE --sac.envs-per-learner 8 --sac.updates 8 --sac.compiled"
  options="--seeds $SEEDS --first-seed ${FIRST_SEED:-0} --test-poses 100 $PLAIN $machine"
  for kind in ${@:2}; do [ "$kind" = ka ] || others+=("$kind"); done
  train "$1" --starts ka --episodes "${KA_EPISODES:-$((EPISODES * 3 / 4))}" $options & ka=$!
  train "$1" --starts "${others[@]}" --episodes "$EPISODES" $options
  wait $ka
}

test_both_draws() {  # name, studies; into the first study first, because learners in a table are not tested again
  $PYTHON experiments/paper/two_draws.py "${@:2}" --threads "$THREADS" --out "$2/$1.csv" > $PUBLISHED/$1.txt
  cp "$2/$1.csv" $PUBLISHED
}

as_published() {
  local draw study starts engine=${ENGINE:-mujoco}
  [ "${DEVICE:-cpu}" = cpu ] || engine=${ENGINE:-warp}
  for draw in ${DRAWS:-teleport move}; do
    study="$STUDY-published-$draw" starts=$STARTS
    [ $draw = teleport ] || starts=${MOVE_STARTS:-$STARTS}
    $KACCESS sample "$ROBOT" "$study" --n "${POSES:-1000}" --draw $draw --threads "$THREADS"
    $KACCESS access "$study" --engine $engine --threads "$THREADS"
    $KACCESS cluster "$study" --solver alternate
    for method in kmeans weighted-kmeans; do
      $KACCESS cluster "$study" --method $method
    done
    train_as_published "$study" $starts
    $PYTHON experiments/compare_starts.py "$study/train/fall-recovery@filter=0" --levels 0.8 0.5 0.2 --planned ka \
      --table $PUBLISHED/$draw.csv --picture $PUBLISHED/$draw.png
  done
  test_both_draws two-draws "$STUDY-published-teleport" "$STUDY-published-move"
}

in_pybullet() {
  local study="$STUDY-bullet" physics="--engine bullet --solver-iterations 50 --threads $THREADS"
  $KACCESS sample "$ROBOT" "$study" --n "${POSES:-300}" --draw teleport $physics
  $KACCESS access "$study" $physics
  $KACCESS cluster "$study" --solver alternate
  $KACCESS cluster "$study" --method kmeans
  train "$study" --engine bullet --starts ${BULLET_STARTS:-ka km rnd 1-pose} --seeds "$SEEDS" --episodes "$EPISODES" \
    --test-poses "${TEST_POSES:-30}" $PLAIN --device cpu
  $PYTHON experiments/compare_starts.py "$study/train/fall-recovery@filter=0" --levels 0.8 0.5 0.2 --planned ka \
    --table $PUBLISHED/in-pybullet.csv --picture $PUBLISHED/in-pybullet.png
  test_both_draws in-pybullet-scores "$study" --engine bullet --poses 100  # not run yet
}

tests() {
  evaluate_all "$STUDY"
  for task in fall-recovery backflip; do
    $PYTHON experiments/paper/collect.py "$STUDY" --task $task
  done
  intervals "$STUDY" results/paper/ten-thousand-poses.csv
  intervals "$STUDY" results/paper/ten-thousand-poses-best.csv --kinds guided-rnd --best
}

compare() {
  echo; echo "== compare_starts.py $*"; $PYTHON experiments/compare_starts.py "$@"
}

tables() {  # into results/paper/tables.txt
  local paper=results/paper robots=results/robots
  {
    compare $RETURNS/guided.csv --beside "1 step" $paper/guided.csv --against "rnd, 1 step" --planned guided-rnd
    compare $RETURNS/guided.csv --planned guided-rnd
    compare $paper/fall-recovery.csv --more $paper/more-seeds/fall-recovery.csv --planned ka
    compare $paper/fall-recovery.csv --more $paper/more-seeds/fall-recovery.csv \
      --beside "4 steps" $RETURNS/fall-recovery.csv --planned "guided-rnd, 4 steps"
    compare $robots/go1-learning.csv --against fresh --planned guided-fresh
    compare $robots/barkour-vb-learning.csv --against fresh --planned guided-fresh
    compare $robots/anymal-c-learning.csv --against fresh --planned guided-fresh
    compare $robots/learned/b2.csv --episode-steps 175 --against fresh --planned guided-fresh
    compare $robots/learned/unitree_go1.csv --episode-steps 150 --against fresh --planned guided-fresh
    compare $robots/learned/unitree_go2-often.csv --episode-steps 150 --against fresh --planned guided-fresh
    compare $robots/learned/anybotics_anymal_c.csv --episode-steps 201 --against fresh --planned guided-fresh --levels 0.95 0.9 0.8
    compare $robots/learned/robotis_op3.csv --episode-steps 250 --against fresh --planned guided-fresh
    compare results/as-published/full-size/teleport.csv --levels 0.8 0.5 0.2 --planned ka
    compare results/as-published/full-size/teleport.csv --levels 0.8 0.5 0.2 --against ka --planned ka-free
    compare results/as-published/full-size/move.csv --levels 0.8 0.5 0.2 --planned ka
    compare $robots/a1.csv --planned guided-rnd
    compare $robots/go2.csv --planned guided-rnd
    for level in 0.95 0.9; do
      echo; echo "== harder.py --level $level"
      $PYTHON experiments/paper/harder.py $HARDER $HARDER.png --level $level
    done
    echo; echo "== pool_scores.py"
    $PYTHON experiments/pool_scores.py $paper/{,returns/,more-seeds/}*-scores.csv $paper/gamma/*-scores.csv $robots/learned/*-scores.csv
    $PYTHON experiments/pool_scores.py --digits 2 $paper/{,returns/,more-seeds/}ten-thousand-poses*.csv
  } > $paper/tables.txt
}

case "${1:-}" in
  study) study ;;
  recovery) recovery ;;
  seeds) seeds ;;
  guided) guided ;;
  harder) harder ;;
  backflip) backflip ;;
  gamma) gamma ;;
  robust) robust ;;
  returns) returns ;;
  tests) tests ;;
  tables) tables ;;
  as-published) as_published ;;
  in-pybullet) in_pybullet ;;
  *) sed -n '2,18s/^# \?//p' "$0"; exit 2 ;;
esac
