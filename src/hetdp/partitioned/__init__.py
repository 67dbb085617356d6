"""Everything that runs on Dask workers, behind the same verbs and types as on one machine.

A partitioned problem is a folder of arrays that all workers can access. Each *partition* owns a range of the datasets,
and knows the labels of its *ghosts*, the neighbours that other partitions own. Tasks are stateless functions of file
names, so that each may run twice, or on another worker.

- Problems: `reading` builds the layout from Parquet files (`datasets`, `edges`, `labels`, `parquet_rows`), and
  `tallies` from groups and a question. `problem` is the object that users hold; `partition` has the arrays of one
  partition.
- Verbs: `steps` has the steps of `check`, `extend` and `design`, and `rounds` the search and the fair values.
  `verification` proves; `mechanism` and `mechanism_files` hold, explain, write and read the result.
- Workers: `workspace` manages the shared folder, and `shared_files` its files. Only `cluster` imports Dask.
- Tables of people: `tables` (with the public `Workers`) and `table_tasks`, for `hetdp ask`.

The command line, `spaces` and the studio may import this package. Lower packages never do: to them a partitioned
problem is a `RemoteProblem` (mechanism/steps.py). The package may import everything below it, but of the engines only
the kernel in cpu/. `verification` imports neither engines nor theory nor mechanism. To add a step to a verb, add a
method to `Steps` and a task to `steps`.
"""
