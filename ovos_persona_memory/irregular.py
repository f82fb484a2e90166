"""Words of which no stemmer knows that they are one: "went" and "go", "children" and "child".

Left out is what is mostly another word, as "rose", "bit", "lives" and "better".
"""

from __future__ import annotations

from collections.abc import Mapping

_ENGLISH = """
become became, begin began begun, bend bent, bite bitten, blow blew blown, break broke broken, bring brought,
build built, burn burnt, buy bought, catch caught, choose chose chosen, cling clung, come came, creep crept, deal dealt,
dig dug, draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen,
feed fed, feel felt, fight fought, find found, flee fled, fly flew flown, forget forgot forgotten,
forgive forgave forgiven,
freeze froze frozen, get got gotten, give gave given, go went gone, grow grew grown, hang hung, hear heard,
hide hid hidden, hold held, keep kept, know knew known, lay laid, lead led, learn learnt, leave left, lend lent,
light lit, lose lost, make made, mean meant, meet met, overcome overcame, pay paid, ride rode ridden, ring rang rung,
rise risen, run ran, say said, see saw seen, seek sought, sell sold, send sent, sew sewn, shake shook shaken,
shine shone, show shown, shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept, slide slid,
speak spoke spoken, spend spent, spin spun, stand stood, steal stole stolen, stick stuck, sting stung,
strike struck stricken, swear swore sworn, sweep swept, swim swam swum, swing swung, take took taken, teach taught,
tear tore torn, tell told, think thought, throw threw thrown, understand understood, wake woke woken, wear wore worn,
weep wept, win won, withdraw withdrew withdrawn, write wrote written,
child children, foot feet, goose geese, half halves, knife knives, loaf loaves, man men, mouse mice, person people,
shelf shelves, thief thieves, tooth teeth, wife wives, wolf wolves, woman women
"""


def _forms(groups: str) -> dict[str, str]:
    """Each form to the first word of its group."""
    told = (group.split() for group in groups.split(","))
    return {form: first for first, *others in told for form in others}


FIRST_FORM: Mapping[str, Mapping[str, str]] = {"english": _forms(_ENGLISH)}
"""By Snowball algorithm: a folded word to the one that stands for it in the index."""
