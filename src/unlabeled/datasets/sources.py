"""The eight LIBSVM files behind the paper's real data: what they are called, and how their labels are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

#: Where the LIBSVM collection publishes them.
COLLECTION = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"


@dataclass(frozen=True)
class Source:
    """One data set of the LIBSVM collection.

    Attributes
    ----------
    name : str
        Its name, and that of its file unless ``parts`` says otherwise.
    n_features : int
        Largest index in the file.
    target_names : tuple of str
        What target 0 and target 1 mean.
    negative_labels, positive_labels : tuple of int
        Labels that mean target 0 and target 1, in every spelling in use.
    parts : tuple of str
        Files that make it up, one below the other, without the ending of a compressed file.
    endings : tuple of str
        Endings under which the collection publishes or has published the files, newest first.
    extracts : tuple of str
        Patterns of files that hold some of its rows, used where the whole data set is not found.
    remark : str
        What its users should know.
    dtype : str
        Type the values are kept in. float32 halves the two sets of gigabytes; HIGGS was published in it.
    """

    name: str
    n_features: int
    target_names: tuple[str, str]
    negative_labels: tuple[int, ...] = (-1, 0)
    positive_labels: tuple[int, ...] = (1,)
    parts: tuple[str, ...] = ()
    endings: tuple[str, ...] = ("",)
    extracts: tuple[str, ...] = ()
    remark: str = ""
    dtype: str = "float64"

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files that make it up, without the ending of a compressed file."""
        return self.parts or (self.name,)


SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        source.name: source
        for source in (
            Source("heart_scale", 13, ("heart disease absent", "heart disease present")),
            Source("sonar_scale", 60, ("mine", "rock")),
            Source("australian_scale", 14, ("credit class -1", "credit class +1")),
            Source(
                "breast-cancer_scale",
                10,
                ("benign", "malignant"),
                negative_labels=(2, -1),
                positive_labels=(4, 1),
                remark="Column 1 is the number of the sample, not a measurement.",
            ),
            Source("diabetes_scale", 8, ("tested positive for diabetes", "tested negative")),
            Source(
                "skin_nonskin",
                3,
                ("skin", "non-skin"),
                negative_labels=(1,),
                positive_labels=(2,),
                remark="Columns are blue, green and red, from 0 to 255, not scaled.",
            ),
            Source(
                "epsilon_normalized",
                2000,
                ("class -1", "class +1"),
                parts=("epsilon_normalized", "epsilon_normalized.t"),
                endings=(".xz", ".bz2"),
                extracts=("epsilon_normalized*_100.xz",),
                dtype="float32",
            ),
            Source(
                "HIGGS",
                28,
                ("background", "signal"),
                endings=(".xz", ".bz2"),
                extracts=("higgs_first*.xz", "higgs_*.xz"),
                dtype="float32",
            ),
        )
    }
)


def find_source(name: str) -> Source:
    """The source of that name."""
    if name not in SOURCES:
        raise ValueError(f"name={name!r} is not known; use one of {list(SOURCES)}.")
    return SOURCES[name]
