"""`python -m cli` is `faultlab`."""

import sys

from cli.main import main

sys.exit(main())
