#!/bin/bash
# Estimates the times of a study with an array job of Slurm; all tasks share its folder.
#   sbatch --array=0-63 --cpus-per-task=16 slurm-access.sh STUDY [options of kaccess access]
# Each task takes a share of the tiles. Submit it again to resume.
set -euo pipefail
study=$1
shift
read -r n tile < <(python3 - "$study/study.zarr/times/zarr.json" <<'PYTHON'
import json, sys
times = json.load(open(sys.argv[1]))
print(times["shape"][0], times["chunk_grid"]["configuration"]["chunk_shape"][0])
PYTHON
)
tiles=$(((n + tile - 1) / tile))
id=$((SLURM_ARRAY_TASK_ID - ${SLURM_ARRAY_TASK_MIN:-0}))
first=$((tiles * id / SLURM_ARRAY_TASK_COUNT))
end=$((tiles * (id + 1) / SLURM_ARRAY_TASK_COUNT))
stop=$((end * tile < n ? end * tile : n))
if [ "$first" -lt "$end" ]; then
  kaccess access "$study" --only-rows "$((first * tile)):$stop" "$@"
fi
