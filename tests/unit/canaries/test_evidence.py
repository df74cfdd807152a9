"""The stated bound on false LEAKs, worked out from the constants that make it."""

from __future__ import annotations

from monitor.canaries.evidence import DISGUISE_BITS, LEAK_BITS, RARE_SHAPE_BITS
from monitor.canaries.proquint import GROUP_BITS, GROUPS_PER_MARKER, dictionary_words
from monitor.canaries.readings import WAYS

STATED = 1e-9
# Groups with gaps, near matches, scattered groups, parts added up.
RARE_SHAPES = 4


def test_all_shapes_together_stay_below_the_stated_bound() -> None:
    every = 1 << GROUP_BITS
    # No group is a dictionary word, so each other string is drawn a little more often.
    more_often = (every / (every - len(dictionary_words()))) ** GROUPS_PER_MARKER
    plain, rare = 2**-LEAK_BITS, 2 ** -(LEAK_BITS + RARE_SHAPE_BITS)
    # A disguise has every shape but parts added up.
    disguised = len(WAYS) * (plain + (RARE_SHAPES - 1) * rare) * 2**-DISGUISE_BITS
    assert more_often > 1.02
    assert more_often * (plain + RARE_SHAPES * rare + disguised) < STATED
