"""The studio: interactive pages for a problem and its mechanism, and for a table of people (`people/`).

Only `hetdp.cli.studio` imports the studio, and Dash is imported in this package only. The page for problems calls
functions that every user has: `extend`, `design`, `explain`, `accuracy`, `odds`, `plot` and `save`, and
`Problem.with_parameter`, `with_epsilon` and `scaled` for edits. Both pages share `server`, `guard` (access and
caching), `opening` (what the command line names) and the colours in `assets/tokens.css`.

- Without Dash: `session` (the document, undo, selection), `answers` (solve a document), `gallery` and `uploads` (where
  documents come from), `export` (what can be saved), `state` (a saved state), `story` (the tour and the presenter
  mode), `glossary` (what every word and symbol means), `binding` (the highlighted path), `what_if` (one ε for many
  edges), `drawing`, `picture` and `views` (network and charts as data).
- With Dash: `layout` (the empty page), `panels` (texts beside the picture), `screen` (one callback takes actions and
  sends what a page lacks), `callbacks` (actions, tabs, opening, saving), `guard` (access and caching), `server`.
- `verdict` makes the page to print.
- `assets/`: actions.js keeps the queue of actions until the server has acknowledged them, keys.js handles keys in the
  picture, studio.js turns clicks and entries into actions, paths.js lets paths appear in charts, whatif.js draws the
  sliders for many edges and keeps every dragged slider in its place, guide.js runs the tour, tips and presenter mode,
  keep.js links and Back, network.js fits the network and its names, and access.js adds names for screen readers.
  tokens.css holds the colours, also those of pictures.

To add an action: give a button or control `data-action`, and handle the name in `callbacks.take_action`. To add a view:
add it to `views.views_of` and draw it in `screen`. To add an example: add an entry to `gallery.GALLERY`.
"""
