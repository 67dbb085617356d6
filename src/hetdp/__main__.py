"""``python -m hetdp`` runs the command line; in a folder that you do not trust, use ``python -P -m hetdp``.

Without ``-P``, Python searches the working folder for modules first, and has already done so when this module runs. The
module then removes that folder from the path. The command ``hetdp`` never searches it.
"""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    from hetdp.cli.main import main

    sys.exit(main())
