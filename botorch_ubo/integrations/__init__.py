"""Hosts: optimisation frameworks that keep the record of trials, and ask here for the next one.

In every host the same holds: **the host's own bounds are the limits, and** ``start`` **is the
guess** from which the box grows. A parameter without a ``start`` has its bounds as first box, and
no room to grow: ordinary Bayesian optimisation.

* :mod:`botorch_ubo.integrations.scipy`: a ``method`` of ``scipy.optimize.minimize``;
* :mod:`botorch_ubo.integrations.gest`: a generator for Xopt, libEnsemble and others that speak
  gest-api;
* :mod:`botorch_ubo.integrations.optuna`: a sampler;
* :mod:`botorch_ubo.integrations.ax`: a generation node.

Each needs its host, and is imported by name: ``pip install botorch-ubo[optuna]``.
"""
