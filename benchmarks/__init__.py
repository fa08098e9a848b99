"""How fast we are, as ratios to the floor of the same machine in the same run; and how we compare with others.

`python -m benchmarks` holds us to the budgets, `python -m benchmarks.slow` does so on a slow disk,
`python -m benchmarks.peers` runs a peer beside us, and `python -m benchmarks.corpora` scores the labelled corpora.
"""
