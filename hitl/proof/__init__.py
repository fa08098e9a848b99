"""Proof of a call: its canonical bytes and digest, the keys, the seals, and the chain of the record."""
