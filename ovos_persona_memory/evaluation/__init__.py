"""How well recall finds: conversations with labelled evidence, who ranks their turns, and the measures of a ranking."""
