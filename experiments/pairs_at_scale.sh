#!/usr/bin/env bash
# 10,000 poses of Bittle to clusters and routes on one GPU. It was not run to its end
# yet. docs/pairs.md says what is known.
#
#     bash experiments/pairs_at_scale.sh runs/b10000
set -euo pipefail
study=$1
time kaccess sample bittle "$study" --n 10000 --engine warp
time kaccess access "$study" --pairs 0.5% --engine warp
time kaccess cluster "$study"
kaccess info "$study"
time kaccess evaluate "$study" --poses 1000
