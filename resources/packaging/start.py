"""What the program of a frozen build runs."""

import sys

from explorer.__main__ import main

sys.exit(main())
