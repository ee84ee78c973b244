"""`python -m cli` is `faultlab`."""

import sys

from cli.entry import main

sys.exit(main())
