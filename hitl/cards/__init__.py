"""Makes the texts in which people and programs see a request. Invisible characters are escaped, secrets are masked."""
