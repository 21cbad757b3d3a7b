"""Many submissions of one or several phases: on this machine or on a cluster, and again after a change.

    evaluate --each ── submissions ──► run ── tasks ──► lanes, or cluster workers with lanes of their own
                                        ▲                        │ a process that scores in turn (`lane`)
    OUTPUT/<team>/ ◄── kept results ────┴──────── answers ◄──────┘

- `submissions` finds the submissions, in folders or in any file system that fsspec knows.
- `task` defines a lane's tasks and answers: plain data that crosses to other machines.
- `scorer` scores one submission after the other in one process. Workers that read and score cases are forked
  from a clean server for each submission, as `evaluation.workers` describes.
- `lanes` of the room `parallel` runs several such processes on this machine, `cluster` does it on the workers
  of a Dask scheduler.
- `kept` writes results with the digests of their inputs, finds the ones that still hold, and keeps two runs
  from scoring the same submission into one folder.
- `changes` compares the results with earlier ones.
"""
