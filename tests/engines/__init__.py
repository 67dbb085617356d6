"""The conformance suite: every engine gives the same bits as the reference engine."""
