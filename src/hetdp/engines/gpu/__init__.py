"""The gpu engine: growth on spaces of people on one GPU, in whole numbers of grid units.

`sweep.cu` has the kernels, `plan` says which kernel sweeps which axis and with which launch, and `engine` moves labels
and runs the plan. CuPy itself is imported by `hetdp.device` only.

Only `engines.registry`, `mechanism.balanced` and `mechanism.resident` import this package; other engines must not.
"""
