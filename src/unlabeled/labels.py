"""Which entries of y are labelled positives, however people spell them.

Of two numbers or booleans the larger marks positives. Words are looked up in `POSITIVE_WORDS` and `UNLABELED_WORDS`,
the one table that Python and the command line share. What is missing (None, NaN, NA) is unlabeled. ``pos_label`` names
the positive value where nothing else does.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets

from unlabeled.callers import levels_to_caller

#: Words for a missing value, in lower case.
MISSING_WORDS = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "<na>"})
#: Words for a labelled positive and for an unlabeled row, in lower case. Single letters count only in pairs: y and n.
POSITIVE_WORDS = frozenset({"positive", "pos", "p", "yes", "y", "true", "t", "labeled", "labelled", "1"})
UNLABELED_WORDS = MISSING_WORDS | {
    *("unlabeled", "unlabelled", "unknown", "u", "no", "n", "false", "f", "negative", "neg", "0", "-1"),
}
#: Of these the words that may as well be meant for a row that is known to be negative.
NEGATIVE_WORDS = frozenset({"negative", "neg", "-1"})
#: What `predict` answers for a row that is not positive, where y had no value but the positive one.
UNLABELED = "unlabeled"
#: What people may say of rows known to be negative, and how far these are then a random choice of all negatives.
CHOICES_OF_NEGATIVES = {"random": 1.0, "selected": 0.0}


class LabelWarning(UserWarning):
    """Nothing says which of two labels marks the positives, or the value named for known negatives is not there."""


def find_classes(y: ArrayLike, pos_label: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The two values of ``y``, unlabeled first, and which entries are positive.

    Where neither numbers nor words nor ``pos_label`` say which value is positive, the last in sorted order is taken,
    and a `LabelWarning` says so.
    """
    classes, codes = _distinct(np.asarray(completed(y, pos_label)))
    if len(classes) == 1:
        raise ValueError(
            f"y holds only one class, {_spelled(classes)[0]!r}. Mark the labelled positives with one value and the "
            "unlabeled rows with another, for example 1 and 0."
        )
    if len(classes) > 2:
        _refuse_more_than_two(classes, y)
    place = _place_of_positive(classes, pos_label)
    if place is None:
        place = 1
        _warn_of_a_guess(_spelled(classes))
    return classes[[1 - place, place]], codes == place


def completed(y: ArrayLike, pos_label: Any = None) -> ArrayLike:
    """``y`` with the value for unlabeled rows where it is missing; as it came where nothing is.

    The value is the other one that y has. Where it has none it is 0 beside a number, False beside True, and "unlabeled"
    beside a word.
    """
    values = _as_array(y)
    if values is None:
        return y
    missing = _missing(values)
    if not missing.any():
        return y
    present = _natural(values[~missing])
    if len(present) == 0:
        raise ValueError("y is missing throughout: there are no labelled positives to learn from.")
    classes, _ = _distinct(present)
    if len(classes) > 2:
        _refuse_more_than_two(classes, present)
    filled = values.astype(object)
    filled[missing] = _unlabeled_beside(classes, pos_label)
    return filled.astype(str) if values.dtype.kind == "U" else _natural(filled)


def without_negatives(y: ArrayLike, negative: Any, pos_label: Any = None) -> tuple[ArrayLike, np.ndarray | None]:
    """``y`` with the value for unlabeled rows in place of the one for known negatives, and where these were.

    None in the second place, and y as it came, where no value is named for negatives or no row has it.
    """
    if negative is None:
        return y, None
    if pos_label is not None and negative == pos_label:
        raise ValueError(
            f"negative={negative!r} and pos_label={pos_label!r} are the same value: no row is known to be both."
        )
    values = np.asarray(y)
    is_negative = has_value(values, negative)
    if values.ndim != 1 or not is_negative.any():
        return y, None
    rest = np.asarray(completed(values[~is_negative], pos_label))
    if len(rest) and pos_label is None and len(_distinct(rest)[0]) == 1:
        only = _spelled(_distinct(rest)[0])[0]
        raise ValueError(
            f"Beside {negative!r} for known negatives y holds only {only!r}, and both positives and unlabeled rows are "
            "needed. With positives and negatives alone use a classifier of scikit-learn."
        )
    classes, _ = find_classes(rest, pos_label)
    filled = np.full(len(values), classes[0], dtype=rest.dtype)
    filled[~is_negative] = rest
    return filled, is_negative


def has_value(values: np.ndarray, value: Any) -> np.ndarray:
    """Which entries equal a value; missing ones do not."""
    if values.dtype.kind in "biuf":
        return values == value if isinstance(value, Real | np.bool_) else np.zeros(values.shape, dtype=bool)
    same = [not _is_missing(entry) and entry == value for entry in values.flat]
    return np.array(same, dtype=bool).reshape(values.shape)


def positives_among(y: ArrayLike, classes: np.ndarray) -> np.ndarray:
    """Which entries are the second of two known classes; the others must be the first, or missing."""
    values = np.asarray(y)
    present = ~_missing(values)
    known = np.isin(values[present], classes)
    if not known.all():
        unlabeled, positive = _spelled(classes)
        strange = list(dict.fromkeys(_spelled(values[present][~known])))
        raise ValueError(
            f"y holds {strange[:3]}, which is none of the classes: {positive!r} for labelled positives and "
            f"{unlabeled!r} for unlabeled rows."
        )
    is_positive = np.zeros(values.shape, dtype=bool)
    is_positive[present] = values[present] == classes[1]
    return is_positive


def share_of_choice(choice: object, names: Sequence[str] = ()) -> float | None:
    """How far known negatives are a random choice of all negatives, from 0 to 1, by what somebody says of them.

    None for one of some other ``names``, which are taken too.
    """
    if isinstance(choice, str) and choice in CHOICES_OF_NEGATIVES:
        return CHOICES_OF_NEGATIVES[choice]
    if isinstance(choice, str) and choice in names:
        return None
    if isinstance(choice, Real) and not isinstance(choice, bool) and 0 <= float(choice) <= 1:
        return float(choice)
    raise ValueError(
        f"negatives_are={choice!r} is not known; use one of {[*names, *CHOICES_OF_NEGATIVES]}, or a number from 0 to "
        "1: how far they are a random choice of all negatives."
    )


def known_among(y: ArrayLike, classes: np.ndarray, unlabeled: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Which entries are labelled positives, and which are known to be negative.

    These are the first class where unlabeled rows have a value of their own; else no entry is.
    """
    values = np.asarray(y)
    if unlabeled is None:
        return positives_among(values, classes), np.zeros(values.shape, dtype=bool)
    negative, positive = classes.tolist()
    is_negative, is_positive = has_value(values, negative), np.zeros(values.shape, dtype=bool)
    rest = np.array([unlabeled, positive], dtype=values.dtype if values.dtype.kind in "OU" else None)
    is_positive[~is_negative] = positives_among(values[~is_negative], rest)
    return is_positive, is_negative


def surely_positive(values: Sequence[Any]) -> int | None:
    """Which of two values marks positives, by their size or by the words; None where neither says so."""
    numbers = [_number(value) for value in values]
    if numbers[0] is not None and numbers[1] is not None and numbers[0] != numbers[1]:
        return int(numbers[1] > numbers[0])
    words = [_word(value) for value in values]
    yes, no = [word in POSITIVE_WORDS for word in words], [word in UNLABELED_WORDS for word in words]
    for place, other in ((0, 1), (1, 0)):
        if yes[place] and no[other]:
            return place
        unknown = [not (yes[k] or no[k]) for k in (place, other)]
        if (yes[place] and unknown[1] and not _letter(words[place])) or (
            no[other] and unknown[0] and not _letter(words[other])
        ):
            return place
    return None


def says_unlabeled(value: Any) -> bool:
    """Whether a value, if it is the only one, says that a row is not labelled: 0, -1, False, no and the like."""
    return _word(value) in UNLABELED_WORDS


def _place_of_positive(classes: np.ndarray, pos_label: Any) -> int | None:
    """Where among one or two classes the positive one is; None where that is a guess."""
    values = _spelled(classes)
    if pos_label is not None:
        places = [place for place, value in enumerate(values) if value == pos_label]
        if not places:
            raise ValueError(f"pos_label={pos_label!r} is not in y, whose values are {values}.")
        return places[0]
    if all(map(says_unlabeled, values)) and (len(values) == 1 or surely_positive(values) is None):
        raise ValueError(
            f"y holds {' and '.join(map(repr, values))}, which says that no row is labelled positive. If one of its "
            "values marks the positives, name it by pos_label."
        )
    return 0 if len(values) == 1 else surely_positive(values)


def _unlabeled_beside(classes: np.ndarray, pos_label: Any) -> Any:
    """The value for rows whose label is missing, beside the one or two values that are there."""
    place = _place_of_positive(classes, pos_label)
    if len(classes) == 2:
        return classes[0 if place is None else 1 - place]
    positive = _spelled(classes)[0]
    if isinstance(positive, bool):
        return not positive
    if isinstance(positive, int | float):
        return type(positive)(0) if positive > 0 else positive - 1
    if isinstance(positive, str):
        return UNLABELED if positive != UNLABELED else "missing"
    raise ValueError(f"y holds {positive!r} and nothing else but missing values; write 1 and 0 instead.")


def _warn_of_a_guess(values: list[Any]) -> None:
    warnings.warn(
        f"y holds {values[0]!r} and {values[1]!r}, and nothing says which of them marks the labelled positives; "
        f"{values[1]!r} is taken, the last in sorted order. Name it: pos_label={values[1]!r}, or "
        f"pos_label={values[0]!r} if that is the one.",
        LabelWarning,
        stacklevel=levels_to_caller(),
    )


def warn_of_absent(negative: Any) -> None:
    """Warn of a value for known negatives that no row has: it may be misspelled, and all are taken for unlabeled."""
    missing = " Missing labels are those of unlabeled rows: give known negatives a value." * _is_missing(negative)
    warnings.warn(
        f"negative={negative!r} is not in y: no row is known to be negative.{missing}",
        LabelWarning,
        stacklevel=levels_to_caller(),
    )


def _refuse_more_than_two(classes: np.ndarray, y: ArrayLike) -> None:
    check_classification_targets(y)
    values = _spelled(classes)
    raise ValueError(
        f"Only binary classification is supported. The type of the target is multiclass: y has {len(values)} values, "
        f"{values[:5]}. Use two, one for labelled positives and one for all other rows, for example "
        f"np.where(y == {values[-1]!r}, 1, 0). If one of them marks rows that are known to be negative, name it by "
        "negative=..., which PUClassifier, its parts, ScarTest and pu_scorer have."
    )


def _as_array(y: ArrayLike) -> np.ndarray | None:
    """``y`` as an array, or None where it is nothing that could have missing entries."""
    try:
        values = np.asarray(y)
    except ValueError:  # rows of different lengths: whoever reads it will say so
        return None
    if values.dtype.kind in "biuSV" or values.ndim == 0:
        return None
    return values if values.dtype.kind in "fcUOmM" else values.astype(object)


def _missing(values: np.ndarray) -> np.ndarray:
    """Which entries are None, NaN, NA or NaT; and words for these, where they stand beside two other words."""
    if values.dtype.kind in "fc":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind not in "UO":
        return np.zeros(values.shape, dtype=bool)
    missing = np.zeros(values.shape, dtype=bool)
    if values.dtype.kind == "O":
        missing = np.array([_is_missing(value) for value in values.flat], dtype=bool).reshape(values.shape)
    present = values[~missing].tolist()
    if all(isinstance(value, str) for value in present) and len(set(present)) > 2:
        words = [value for value in set(present) if value.strip().lower() in MISSING_WORDS]
        missing |= np.isin(values, words)
    return missing


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:  # pandas has these, and need not be there
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _natural(values: np.ndarray) -> np.ndarray:
    """Numbers and booleans that came as objects, as numbers and booleans."""
    if values.dtype.kind != "O":
        return values
    same_kind = len({isinstance(value, bool | np.bool_) for value in values.flat}) == 1
    if same_kind and all(isinstance(value, Real | np.bool_) for value in values.flat):
        return np.array(values.tolist())
    return values


def _distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if values.dtype.kind in "biuf" and values.ndim == 1:  # there may be millions, and of these few are different
        classes = np.unique(values)
        return classes, np.searchsorted(classes, values)
    try:
        classes, codes = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError("y mixes values that cannot be compared, such as numbers and strings; use one kind.") from None
    return classes, codes


def _spelled(values: np.ndarray) -> list[Any]:
    """Values as Python writes them."""
    found: list[Any] = values.tolist()
    return found


def _number(value: Any) -> float | None:
    """A number, a boolean or a text that is a number; None for all else."""
    if not isinstance(value, Real | str | np.bool_):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _word(value: Any) -> str:
    """A value as it may stand in the table of words."""
    number = _number(value)
    return f"{number:g}" if number is not None else str(value).strip().lower()


def _letter(word: str) -> bool:
    return len(word) == 1 and word.isalpha()
