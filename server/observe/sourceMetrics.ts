/** The newest block's age and the state of what --diffs reads from, in /metrics. What is not known is left out. */
import {Counter, Gauge, type Registry} from "prom-client";
import type {Readiness} from "./readiness.ts";
import type {SourceStatus} from "./sourceStatus.ts";

/** @param source - of an import beside the service */
export function registerSource(
  registers: Registry[],
  readiness: Readiness,
  source: SourceStatus | undefined,
): void {
  registerKnown(
    registers,
    "proofd_head_timestamp_seconds",
    "Time of the newest block held, as the block says it, in seconds since 1970",
    () => readiness.readHeadSeconds(),
  );
  new Gauge({
    name: "proofd_import_failed",
    help: "1 while the import that runs beside the service has failed",
    registers,
    collect() {
      this.set(source?.state === "failed" ? 1 : 0);
    },
  });
  if (source === undefined) return;
  registerKnown(
    registers,
    "proofd_head_lag_seconds",
    "Age of the newest block held, which --max-lag bounds",
    () => readiness.readLagSeconds() ?? undefined,
  );
  registerKnown(
    registers,
    "proofd_block_received_timestamp_seconds",
    "When a block was last imported by this process, in seconds since 1970",
    () => (source.receivedMs === undefined ? undefined : source.receivedMs / 1000),
  );
  new Gauge({
    name: "proofd_source_state",
    help: "1 at the state of what --diffs reads from",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, value] of source.states()) this.set({state}, value);
    },
  });
  new Counter({
    name: "proofd_source_changes_total",
    help: "Files that were replaced or truncated, writers of a FIFO that left, lines that were cut",
    labelNames: ["change"],
    registers,
    collect() {
      this.reset();
      for (const [change, count] of source.changes) this.inc({change}, count);
    },
  });
  new Counter({
    name: "proofd_import_retries_total",
    help: "Attempts to go on with an import that had failed",
    registers,
    collect() {
      this.reset();
      this.inc(source.retries);
    },
  });
}

function registerKnown(
  registers: Registry[],
  name: string,
  help: string,
  read: () => number | undefined,
): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      const value = read();
      if (value === undefined) this.remove();
      else this.set(value);
    },
  });
}
