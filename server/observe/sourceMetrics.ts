/** The newest block's age and the state of the source of --diffs or --l2, in /metrics. Unknown figures are not shown. */
import {Gauge, type Registry} from "prom-client";
import type {Readiness} from "./readiness.ts";
import {registerGauge, registerKnown, registerTotal} from "./scrapedFigure.ts";
import type {SourceStatus} from "./sourceStatus.ts";

/** @param source - of the import that runs while the service answers requests, if there is one */
export function registerSource(
  registers: Registry[],
  readiness: Readiness,
  source: SourceStatus | undefined,
): void {
  registerKnown(
    registers,
    "proofd_head_timestamp_seconds",
    "Timestamp of the newest block held, in seconds since 1970",
    () => readiness.readHeadSeconds(),
  );
  registerGauge(registers, "proofd_import_failed", "1 while the import of --diffs or --l2 has failed", () =>
    source?.state === "failed" ? 1 : 0,
  );
  if (source === undefined) return;
  registerKnown(
    registers,
    "proofd_head_lag_seconds",
    "Age of the newest block held, which --max-lag limits",
    () => readiness.readLagSeconds(),
  );
  registerKnown(
    registers,
    "proofd_block_received_timestamp_seconds",
    "When a block was last imported by this process, in seconds since 1970",
    () => (source.receivedMs === undefined ? undefined : source.receivedMs / 1000),
  );
  new Gauge({
    name: "proofd_source_state",
    help: "1 for the current state of the source of --diffs or --l2, 0 for all others",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, value] of source.states()) this.set({state}, value);
    },
  });
  if (source.flag === "l2") registerNode(registers, source);
  registerTotal(
    registers,
    "proofd_import_retries_total",
    "Attempts to continue a failed import",
    () => source.retries,
  );
}

function registerNode(registers: Registry[], source: SourceStatus): void {
  new Gauge({
    name: "proofd_source_chosen",
    help: "1 for the way in which blocks of --l2 are read, 0 for all others",
    labelNames: ["source"],
    registers,
    collect() {
      for (const [name, value] of source.choices()) this.set({source: name}, value);
    },
  });
  registerKnown(
    registers,
    "proofd_source_target_block",
    "The block of --l2 that the import is on the way to: the node's head when it was last read",
    () => source.target,
  );
  registerTotal(
    registers,
    "proofd_source_reorganisations_total",
    "How often blocks were removed because the chain of --l2 was reorganised",
    () => source.reorganisations,
  );
}
