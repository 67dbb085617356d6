"""The record of a release: the promises, the published answer, and how anyone can check it.

- `document`: its keys, its digest, its files. `facts`: what a mechanism puts into it, and the sentences.
- `summary`: the parts for laypeople, and the statement. `page`: the record as HTML.
- `verification`: checks against the digest, the ledger and the mechanism.

What a table puts into a record is in `hetdp.tables.record`. A new key is added to `RECORD` in `document` and filled in
`facts` and there.

`releases`, `tables`, `partitioned`, `studio` and `cli` may import this package.
"""
