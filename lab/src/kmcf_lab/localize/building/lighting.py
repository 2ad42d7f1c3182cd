"""Times of day: how much light comes from the lamps, the sky and the sun."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lighting:
    """Where the light in the building comes from; 1 is the full strength of the lamps.

    Attributes
    ----------
    lamps : float
        Light of the lamps on the ceiling.
    sky : float
        Brightness of the view through the windows; part of it brightens the rooms.
    sun : float
        Brightness of the patches of sunlight on the floor.
    """

    lamps: float
    sky: float
    sun: float

    def __post_init__(self) -> None:
        for name in ("lamps", "sky", "sun"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise ValueError(f"a lighting has {name} = {value!r}; it must be a number >= 0.")

    @property
    def ambient(self) -> float:
        """Light that falls on every surface."""
        return 0.03 + 0.75 * self.lamps + 0.25 * self.sky


LIGHTINGS = {
    "cloudy": Lighting(lamps=0.7, sky=1.1, sun=0.0),
    "sunny": Lighting(lamps=0.15, sky=2.2, sun=1.3),
    "night": Lighting(lamps=0.8, sky=0.02, sun=0.0),
}
"""The three conditions under which the COLD database was recorded."""


def lighting_named(name: str | Lighting) -> Lighting:
    """Return the lighting of this name; a Lighting is returned unchanged.

    Examples
    --------
    >>> lighting_named("night").sun
    0.0
    """
    if isinstance(name, Lighting):
        return name
    if name not in LIGHTINGS:
        raise ValueError(f"unknown lighting {name!r}; choose one of {', '.join(LIGHTINGS)}, or pass a Lighting.")
    return LIGHTINGS[name]
