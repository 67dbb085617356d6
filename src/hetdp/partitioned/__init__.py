"""Everything that runs on Dask workers, behind the same verbs and types as on one machine.

A partitioned problem is a folder of arrays that all workers reach; each *partition* owns a range of the datasets, and
knows the labels of its *ghosts*, the neighbours that other partitions own. Tasks are functions of file names: they
keep nothing, so that each may run twice, or on another worker.

- A problem: `reading` builds its layout from Parquet files (`datasets`, `edges`, `labels`, `parquet_rows`), `tallies`
  from groups and a question; `problem` is the object that users hold, `partition` the arrays of one partition.
- The verbs: `steps` has the steps of `check`, `extend` and `design`; `rounds` is the search, `fair` the fair values;
  `verification` proves; `mechanism` and `mechanism_files` hold, explain, write and read the result.
- Workers: `workspace` is the shared folder, `shared_files` its rules; `cluster` and `processes` are the only modules
  that import Dask.
- A table of people: `workers`, `tables` and `table_tasks`, for `hetdp ask`.

The command line, `spaces` and the studio may import it; lower packages never do: they know a partitioned problem as a
`RemoteProblem` (mechanism/steps.py). It may import all below it; of the engines only cpu/'s kernel. `verification`
imports neither engines nor theory nor mechanism. A new step of a verb is a method of `Steps`, and a task in `steps`.
"""
