"""``python -m unlabeled.cli``, where the console command is not on the path."""

from unlabeled.cli import main

main()
