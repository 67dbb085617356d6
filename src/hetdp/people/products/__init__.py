"""Problems whose datasets are all that some people may answer: votes and tallies; `hetdp.spaces` offers them."""
