"""Makes the texts in which people and programs see a request: makes characters visible, and masks secrets."""
