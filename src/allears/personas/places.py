"""How large a place is, by its name: a country, a part of one, or anything smaller.

Who lives in Texas and who lives in Austin may be the same person; who lives in Texas and who lives in Ohio is not.
Only places of one size contradict each other. The lists are short on purpose: a name they lack counts as a town.
"""

from __future__ import annotations

from enum import StrEnum


class Size(StrEnum):
    COUNTRY = "country"
    REGION = "region"
    TOWN = "town"


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.replace("\n", " ").split(","))


_COUNTRIES = _names(
    """
    america, usa, us, united states, uk, united kingdom, great britain, britain, england, scotland, wales, ireland,
    canada, mexico, brazil, argentina, chile, colombia, peru, venezuela, cuba, jamaica, puerto rico, australia,
    new zealand, france, germany, spain, portugal, italy, greece, turkey, switzerland, austria, belgium, netherlands,
    denmark, sweden, norway, finland, iceland, poland, ukraine, russia, romania, hungary, croatia, serbia, bulgaria,
    china, japan, korea, south korea, taiwan, singapore, india, pakistan, bangladesh, sri lanka, nepal, thailand,
    vietnam, philippines, indonesia, malaysia, iran, iraq, israel, lebanon, syria, egypt, morocco, algeria, tunisia,
    nigeria, ghana, kenya, ethiopia, tanzania, uganda, south africa, zimbabwe
    """
)
_REGIONS = _names(
    """
    alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, georgia, hawaii, idaho,
    illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan, minnesota,
    mississippi, missouri, montana, nebraska, nevada, new hampshire, new jersey, new mexico, north carolina,
    north dakota, ohio, oklahoma, oregon, pennsylvania, rhode island, south carolina, south dakota, tennessee, texas,
    utah, vermont, virginia, west virginia, wisconsin, wyoming, ontario, quebec, british columbia, alberta, manitoba,
    nova scotia, bavaria, queensland, new south wales
    """
)


def size(place: str) -> Size:
    """Of a lower-cased name without its article."""
    if place in _COUNTRIES:
        return Size.COUNTRY
    return Size.REGION if place in _REGIONS else Size.TOWN
