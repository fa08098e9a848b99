"""The texts in which people and programs see a request: the card, its sentences, safe text, and masked secrets."""
