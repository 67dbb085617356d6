"""Files, and objects of other libraries: problems, pins and mechanisms on disk, NetworkX, SciPy and data frames.

`problems`, `mechanisms` and `saving` read and write what hetdp makes; `places` finds the files of a problem, `schema`
has their keys and columns, and `formats/` the formats themselves, with one registry. `networks`, `matrices` and
`frames` take objects of other libraries by duck typing, and import none of them. This package imports
`mechanism/` and below. A new format goes into `formats/`, a new kind of object into a module of its own here.
"""
