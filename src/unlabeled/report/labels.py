"""How methods are named and coloured in every table and figure."""

from __future__ import annotations

#: In the order of the paper's tables. The colours are Okabe and Ito's, which colour-blind readers can tell apart.
METHOD_LABELS = {"log": "LOG", "dh": "DH", "nnpu": "NNPU", "tadj": "tADJ", "wmmd": "WMMD"}
COLOURS = {"log": "#E69F00", "dh": "#CC79A7", "nnpu": "#009E73", "tadj": "#56B4E9", "wmmd": "#D55E00"}
