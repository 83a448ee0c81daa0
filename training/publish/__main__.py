"""`python -m training.publish`: see `publish`."""

from training.publish.publish import main

main()
