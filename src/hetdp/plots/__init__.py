"""Pictures of problems, mechanisms, accuracy and ledgers. Only this package imports matplotlib, when it draws.

`plot` is the public function: it chooses a picture and draws it. Each kind of picture has a module that collects its
data and draws them: `network` (with `network_labels`, `layout` and `arrangement`), `tallies`, `summary`, `curves` and
`ledger`. `canvas`, `colours` and `figure` hold what all of them share: axes, settings, texts, legends, embedded
fonts. The studio and the command line import this package. It imports mechanisms, and tables and ledgers only when they
are drawn.

To add a picture: write a module with a class for its data and a function that draws it, and choose it in
`plot.drawing_of`.
"""
