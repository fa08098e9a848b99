"""The request as people and programs see it: the card, its sentences, safe text, and masked secrets."""
