"""The proof of a call: its canonical bytes and digest, the keys, the MACs, and the hash chains of the audit record."""
