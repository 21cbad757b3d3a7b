"""Cases are run in worker processes, so that one that crashes, hangs or swallows memory costs one case."""
