"""The guided page for a table of people: Table → Question → Protection → Promise → Plan → Release → Record.

Pages are plain HTML forms, rendered on the server; a small script updates them without reloading. Whatever the page
does uses public functions: `describe_table`, `ask`, `price`, `Ledger.create` and `verify_record`.

- Without Flask: `folder` (the files that may be read and written), `table` (columns and what each is), `draft` (what
  has been chosen so far, and what is wrong with it), `wording` (what is said in plain words), `session` (the steps and
  the plan), `release` (the ledger, the price and the release), `code` (the same in a shell and in Python), `charts`
  (curves as SVG), `views` (what each step shows).
- With Flask: `pages` (addresses and forms). `templates/` has one file for each step, `static/` style and script.

To add a field: read it in `draft`, show it in the step's template, and write it into the lines of `code`.
"""
