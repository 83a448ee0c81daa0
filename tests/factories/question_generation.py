"""The arguments of a tiny training run of the question generator."""

TINY = (
    "--sources squad_du2017.dev --hidden 16 --vector 16 --min_count 2 --kl_steps 1 --free_bits 0.1 --patience 1 "
    "--learning_rate 1e-2 --per_device_train_batch_size 32 --num_train_epochs 2 --eval_strategy epoch "
    "--save_strategy epoch --use_cpu True --disable_tqdm True --report_to none"
)
