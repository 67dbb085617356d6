"""``python -m hetdp`` is the command line, too."""

import sys

from hetdp.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
