"""Two stages in separate processes: reading a submission, and scoring its values.

A participant's file can be made to take over the library that decodes it. So the process that decodes files
knows no label, and a process that knows labels decodes no file of a submission.

    main process ── starts first ──► server ── forks ──► readers: form and submission only, confined
         │                             │                     │ reports and values: numbers, texts, arrays
         │  opens the reference,       │                     ▼
         │  reads no file of           └── forks ──► scorers: the reference, and values that are checked again
         │  a submission                                     │ rows
         └───────────────────────────────────────────────────┘

- The server (`server`, `processes`) is started before the reference is opened. It imports what workers need
  and forks them; it is given nothing else, so no worker inherits a label.
- Readers (`reader`, `submission_reader`) list the submission, parse its tables and JSON, and
  decode its files. They first import all that they ever need. Landlock then takes from them all files but the
  submission and Python's own, and all writing (`confinement`); a filter of system calls takes processes,
  sockets, signals and all that tells of files by their paths. Memory and processor
  time are limited. Another reader lists than those that decode, which start when the decoders are imported.
- A zip is parsed by a process like them, and written by the one that asked for it (`unpacking`).
- Readers report in documents of numbers, texts and arrays (`reports`, `evaluation.io.handover`), which are
  checked part by part. Only readers unpickle bytes of readers: the content of a batch stays bytes elsewhere.
- Batches are cut by the cost of their cases. Cases, outcomes and small values cross as columns (`batches`).
- The first stage (`reading`) ends with every case read, or with faults. Only without a fault does the second
  (`scoring`) start. Scorers (`scorer`) get the values through the main process. There each kind of field
  checks its own before anything is scored, while no label is in use, and in the scorer again.
- Values beyond the granted memory are dropped. Such a case is scored with a new reader at the scorer's side,
  which reads its files again, and only accepts the same bytes. It can see how long scoring took: so whatever
  it says costs its case, and there is always a result.
- A worker (`worker`, `pool`) has a connection of its own to the main process. One that ends, or is silent for
  longer than a case may take, is killed and replaced, and its cases are tried again alone. A file that kills
  its reader twice is a fault of the submission; a case that kills its scorer twice takes the worst values.

Without workers the same jobs run in the main process: for debuggers, and on systems without such isolation.
"""
