"""`python -m client`: see client.process."""

import sys

from client.process import main

sys.exit(main())
