export PYTHONPATH=.gpu/extra:.gpu/site:src
timeout 60 python3 benchmarks/bench_train.py --env kaccess/FallRecovery-v0 --imports kaccess.envs --learners 18 24 --sizes 256 --device cuda --no-sb3 --seconds 6 --repeats 1 --out $OUT/train-h200.json 2>&1 | tail -12
timeout -s INT -k 30 190 python3 -c "from kaccess.cli import main; main()" train runs/bittle --starts ka km wkm 9-pose 1-pose rnd --seeds 3 --test-every 25 --test-poses 50 --device cuda 2>&1 | tail -6
( time timeout 60 python3 -c "from kaccess.cli import main; main()" evaluate runs/bittle --poses 500 ) 2>&1 | tail -14
cd runs/bittle && tar czf $OUT/train.tgz --exclude='*.safetensors' --exclude='events*' train evaluation; tar czf $OUT/policies.tgz train/fall-recovery/*/seed-*/policy.safetensors
