/** The names of the figures of /metrics and what they mean (docs/operations.md, "Metrics"). */

/** What each means. Those that end in `_total` are counters, the others gauges. */
export const HELP = {
  nodejs_eventloop_lag_max_seconds: "Longest lag of the main thread's event loop since the last read",
  nodejs_eventloop_lag_mean_seconds: "Mean lag of the main thread's event loop",
  nodejs_eventloop_lag_p50_seconds: "Median lag of the main thread's event loop",
  nodejs_eventloop_lag_p99_seconds: "99th percentile of the lag of the main thread's event loop",
  nodejs_external_memory_bytes: "Memory of JavaScript objects outside of the heap",
  nodejs_heap_size_total_bytes: "Size of the main thread's heap",
  nodejs_heap_size_used_bytes: "Used part of the main thread's heap",
  process_cpu_seconds_total: "Processor time of the process",
  process_cpu_system_seconds_total: "Processor time in the kernel",
  process_cpu_user_seconds_total: "Processor time outside of the kernel",
  process_max_fds: "Most files and sockets that the process may have open",
  process_open_fds: "Files and sockets that the process has open",
  process_resident_memory_bytes: "Resident memory of the process, including memory-mapped files",
  process_start_time_seconds: "When the process started, in seconds since 1970",
  proofd_block_received_timestamp_seconds:
    "When a block was last imported by this process, in seconds since 1970",
  proofd_bodies_refused_total:
    "Request bodies refused because they were too large, or the memory for bodies was full",
  proofd_build_info:
    "1, with the version and commit of proofd, the version of Node, and the hash suite of the store",
  proofd_calls_total: "Calls by method and JSON-RPC error code, 0 for a result",
  proofd_connections: "Open connections",
  proofd_connections_refused_total:
    "Connections refused because too many were open, in total or of one client",
  proofd_damaged_records_total: "Reads of a damaged record",
  proofd_disk_free_bytes: "Free bytes on the store's file system",
  proofd_disk_size_bytes: "Size of the store's file system",
  proofd_estimate_queue_calls: "Gas estimates in each queue: first (waiting or running), long (waiting)",
  proofd_estimate_starts_total:
    "Gas estimates that left a queue for a thread. Those of the queue long are restarted",
  proofd_estimate_wait_seconds_total: "Total time that these gas estimates waited in the queue",
  proofd_estimates_given_back_total:
    "Gas estimates returned to the queue because slow ones in their task left no time for them",
  proofd_finality_answered_timestamp_seconds:
    "When the source of --finality last answered, in seconds since 1970",
  proofd_finality_known_block:
    "Newest block that the source of --finality reports as finalized, in the store or not",
  proofd_finality_state: "1 for the current state of --finality, 0 for all others",
  proofd_head_block: "Numbers of the oldest, the newest finalized and the newest block in the store",
  proofd_head_lag_seconds: "Age of the newest block in the store, which /readyz?lag= limits",
  proofd_head_timestamp_seconds: "Timestamp of the newest block in the store, in seconds since 1970",
  proofd_held_bytes: "Bytes of finished answers that clients have not read yet",
  proofd_import_blocks_total: "Blocks that the import of --diffs, --l2 or --feed has stored",
  proofd_import_busy_seconds_total:
    "Time in which the import thread worked, and did not wait for the node or the disk",
  proofd_import_failed:
    "1 while the import of --diffs, --l2 or --feed has failed, or needs a snapshot of its feed",
  proofd_import_retries_total: "Attempts to continue a failed import",
  proofd_layer1_final_block: "Newest layer-1 block that is final",
  proofd_layer1_read_block: "Newest layer-1 block whose events were read",
  proofd_page_reads_total: "Pages that proof threads read, from their cache or from the store",
  proofd_proved_total: "Accounts and slots that proof threads proved, present or absent",
  proofd_prune_backlog_blocks: "Blocks that are still to be pruned, at most",
  proofd_prune_failed: "1 after pruning has failed",
  proofd_pruned_blocks_total: "Blocks pruned since the start",
  proofd_pruned_pages_total: "Pages removed by pruning since the start",
  proofd_publish_snapshot_failed: "1 while snapshots for replicas cannot be uploaded",
  proofd_publish_state: "1 for the current state of --publish, 0 for all others",
  proofd_published_snapshot_block: "Block of the newest snapshot that replicas may start from",
  proofd_published_block: "Newest block in the store that the stream of --publish has",
  proofd_queued_cost: "Cost of admitted and unfinished calls, for proofs, gas estimates and forwarded calls",
  proofd_readers_cut_total: "Connections closed because clients had too many bytes of answers to read",
  proofd_refused_total:
    "Requests for proofs, gas estimates and forwarded calls refused because a queue was full, its expected wait was too long, or a client with less in the queue took the place",
  proofd_requests_aborted_total: "Requests whose client disconnected before the answer was complete",
  proofd_slice_fetches_total: "Requests to --l2 for slots that a store of slices lacks, by outcome",
  proofd_slice_missed_blocks:
    "Blocks in gaps of a store of slices, whose states were not recorded (docs/slices.md)",
  proofd_source_chosen: "1 for the source by which blocks of --l2 are read, 0 for all others",
  proofd_source_incomplete_slices_total:
    "Blocks that changed more slots of the contracts in slices than their traces name (docs/slices.md)",
  proofd_source_open_resets_total:
    "Account resets that only the source reports and proofd cannot check (docs/following.md)",
  proofd_source_reorganisations_total:
    "How often blocks were removed because the chain of --l2 was reorganised",
  proofd_source_state: "1 for the current state of the source of --diffs, --l2 or --feed, 0 for all others",
  proofd_source_target_block:
    "Block up to which --l2 is being imported: the node's head when it was last read",
  proofd_store_bytes:
    "Bytes in the tables of LevelDB by kind of record, as LevelDB estimates them, and in its log",
  proofd_threads:
    "Worker threads by kind and state: off (not needed now), starting, up, down (waiting to be restarted)",
  proofd_verify_bytes: "Bytes of tables that --check-store checks (all), and has checked (done)",
  proofd_verify_failed: "1 after --check-store could not finish its check",
  proofd_verify_findings_total: "Damage to tables that --check-store found",
  proofd_worker_exits_total: "Worker threads that ended unexpectedly, or could not start",
  proofd_writes_stopped: "1 after the disk refused a write, until the disk takes writes again",
} as const;

export type FigureName = keyof typeof HELP;
