"""A table of people and a yes/no question: everything behind `hetdp.ask`.

What lives here, in the order in which a question passes through it:

- `request` (what is asked and promised), with `predicates` and `comparison` (the condition `count`);
- `sources`, `formats`, `dialect`, `excel`, `sqlite` and `arrow`, which reads data frames, too (how rows are read),
  `kinds` and `conditions` (SQL), `description` (what a table has);
- `people_table` and `policy` (the public columns), `promise`, `plan`, `plan_description`, `preparation`, `identity`;
- `bundle` (several questions in one plan);
- `release` and `record` (what a release from a table costs and says), and `ask`, which calls all of these.

It may import `releases`, `people`, `files` and everything below them. `partitioned`, `studio` and `cli` may import it.
A new file format is an opener in `formats`; a new kind of question is a module in `people/questions`.
"""
