"""``python -m hetdp`` runs the command line; in a folder that you do not trust, use ``python -P -m hetdp``.

Without ``-P``, Python searches the working folder for modules first, and has done so before it comes here. From here on
that folder is left out. The command ``hetdp`` never searches it.
"""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    from hetdp.cli.main import main

    sys.exit(main())
