"""How methods are named and coloured in every table and figure."""

from __future__ import annotations

from typing import Any

#: In the order of the paper's tables. The colours are Okabe and Ito's, which colour-blind readers can tell apart.
METHOD_LABELS = {"log-released": "LOG", "dh-released": "DH", "nnpu": "NNPU", "tadj-balanced": "tADJ", "wmmd": "WMMD"}
#: Whom our own methods are compared with: tADJ in both readings, of which now one and now the other is the stronger.
RIVAL_LABELS = METHOD_LABELS | {"tadj": "tADJ, unweighted"}
COLOURS = {
    "log-released": "#E69F00",
    "dh-released": "#CC79A7",
    "nnpu": "#009E73",
    "tadj-balanced": "#56B4E9",
    "wmmd": "#D55E00",
}
#: Our own methods bear the names that the command knows them by, and take the colour that is left.
OUR_METHODS = {
    "wmmd-auto": "`WMMDClassifier`",
    "wmmd-score": "`ScoreWMMDClassifier`",
    "pu-auto": "`PUClassifier`",
}
OUR_COLOUR = "#0072B2"
#: The one a newcomer gets is a broad line; two of those that it weighs lie over it, broken.
OUR_STYLES: dict[str, dict[str, Any]] = {
    "pu-auto": {"color": OUR_COLOUR, "linewidth": 2.6},
    "wmmd-auto": {"color": "#3B1E6E", "linewidth": 1.4, "linestyle": "-."},
    "wmmd-score": {"color": "#3B1E6E", "linewidth": 1.4, "linestyle": ":"},
}
