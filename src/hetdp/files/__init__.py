"""Files, and objects of other libraries: problems, pins and mechanisms on disk, NetworkX, SciPy and data frames.

`problems`, `mechanisms` and `saving` read and write what hetdp makes; `schema` has the keys and columns of these files,
and `formats/` the formats themselves, with one registry. `networks`, `matrices` and `frames` take objects of other
libraries by duck typing, and import none of them. This package imports `mechanism/` and below; `releases`, `tables`,
`partitioned`, `studio` and `cli` import it. A new format goes into `formats/`, a new kind of object into a module of
its own here.
"""
