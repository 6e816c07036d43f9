import math

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", -1e6, 1e6)
    lr = trial.suggest_float("lr", 1e-12, 1e6, log=True)
    return (x - 12) ** 2 / 10 + math.log10(lr / 32) ** 2


if __name__ == "__main__":
    module = optunahub.load_module("samplers/ubo")
    sampler = module.UBOSampler(start={"x": (-1.0, 1.0), "lr": (1e-3, 1e-1)})
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=30)
    print(study.best_params, study.best_value)
