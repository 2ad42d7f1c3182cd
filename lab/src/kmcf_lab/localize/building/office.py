"""The building that comes with the package: a ring of corridors, a laboratory, two offices and a library.

Going east from the south-west corner and going west from the north-east corner look the same for 24 m: the north
corridor with its far corner is the south one turned by 180°. The offices are twins, too.
"""

from __future__ import annotations

from kmcf_lab.localize.building.plan import FloorPlan, Space

_LONG, _CORNER, _BEND, _TWIN = "long corridor", "far corner", "bend", "twin office"

OFFICE_PLAN = FloorPlan(
    spaces=(
        Space("south corridor", (2, 0, 24, 2), "corridor", _LONG),
        Space("south-east corner", (24, 0, 26, 2), "corridor", _CORNER),
        Space("south-east bend", (24, 2, 26, 4), "corridor", _BEND),
        Space("gallery", (24, 4, 26, 14), "gallery"),
        Space("north-east corner", (24, 14, 26, 16), "gallery"),
        Space("north corridor", (2, 14, 24, 16), "corridor", _LONG, turned=True),
        Space("north-west corner", (0, 14, 2, 16), "corridor", _CORNER, turned=True),
        Space("north-west bend", (0, 12, 2, 14), "corridor", _BEND, turned=True),
        Space("passage", (0, 2, 2, 12), "passage"),
        Space("south-west corner", (0, 0, 2, 2), "passage"),
        Space("library", (26.5, 3, 36, 13), "library"),
        Space("library entrance", (26, 5, 26.5, 6.25), "doorway"),
        Space("library exit", (26, 10, 26.5, 11.25), "doorway"),
        Space("north office", (-5.5, 8, -0.5, 11.5), "office", _TWIN),
        Space("north office door", (-0.5, 9, 0, 10.25), "doorway", "office door"),
        Space("south office", (-5.5, 3, -0.5, 6.5), "office", _TWIN),
        Space("south office door", (-0.5, 4, 0, 5.25), "doorway", "office door"),
        Space("laboratory", (2.5, 3, 12.5, 13), "laboratory"),
        Space("laboratory door", (2, 6.5, 2.5, 7.75), "doorway"),
    ),
    blocks=(
        Space("south bookcase", (29, 5.5, 33.5, 6.25), "bookcase"),
        Space("north bookcase", (29, 9.5, 33.5, 10.25), "bookcase"),
        Space("laboratory cabinet", (6, 7, 9.5, 8), "cabinet"),
    ),
)

OFFICE_ROUTE = (
    (10.8, 5.0),
    (10.8, 10.4),
    (4.4, 10.4),
    (3.6, 7.1),
    (1.0, 7.1),
    (1.0, 4.6),
    (-1.5, 4.6),
    (-2.2, 5.5),
    (-4.2, 5.5),
    (-4.2, 4.0),
    (-2.2, 3.9),
    (-1.5, 4.6),
    (1.0, 4.6),
    (1.0, 1.0),
    (25.0, 1.0),
    (25.0, 5.6),
    (28.0, 5.6),
    (28.0, 7.9),
    (34.8, 7.9),
    (34.8, 11.6),
    (28.0, 11.6),
    (27.6, 10.6),
    (25.0, 10.6),
    (25.0, 15.0),
    (1.0, 15.0),
    (1.0, 9.6),
    (-1.5, 9.6),
    (-2.2, 10.5),
    (-4.2, 10.5),
    (-4.2, 9.0),
    (-2.2, 8.9),
    (-1.5, 9.6),
    (1.0, 9.6),
    (1.0, 7.1),
    (3.6, 7.1),
    (4.4, 5.0),
)
"""The route begins in the laboratory, which resembles nothing else: a robot can locate itself before it matters."""
