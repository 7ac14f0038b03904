"""Which positives got labelled: whether labels look as if they were given at random, and what to do where not."""

from unlabeled.bias.choosing import Choice, choose_classifier
from unlabeled.bias.columns import ColumnDifference
from unlabeled.bias.scar_test import ScarTest

__all__ = ["Choice", "ColumnDifference", "ScarTest", "choose_classifier"]
