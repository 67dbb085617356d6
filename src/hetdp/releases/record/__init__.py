"""The record of a release: what was promised to whom, what was published, and how anybody can check it.

- `document`: its keys, its digest, its files. `facts`: what a mechanism puts into it. `words`: its sentences.
- `page`: the record as HTML. `verification`: checks against the digest, the ledger and the mechanism.

What a table puts into a record is in `hetdp.tables.record`. A new key is added to `RECORD` in `document` and filled in
`facts` and there.
"""
