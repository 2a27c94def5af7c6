/** Where finality stands, in /metrics. Unknown figures are not shown. */
import {Gauge, type Registry} from "prom-client";
import type {FinalityStatus} from "./finalityStatus.ts";
import {registerKnown} from "./scrapedFigure.ts";

export function registerFinality(registers: Registry[], status: FinalityStatus): void {
  new Gauge({
    name: "proofd_finality_state",
    help: "1 for the current state of --finality, 0 for all others",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, value] of status.states()) this.set({state}, value);
    },
  });
  registerKnown(
    registers,
    "proofd_finality_known_block",
    "Newest block that the source of --finality calls finalized, held or not",
    () => status.known,
  );
  registerKnown(
    registers,
    "proofd_finality_answered_timestamp_seconds",
    "When the source of --finality last answered, in seconds since 1970",
    () => (status.answeredMs === undefined ? undefined : status.answeredMs / 1000),
  );
  if (status.source !== "l1") return;
  registerKnown(
    registers,
    "proofd_layer1_final_block",
    "Newest layer-1 block that is final",
    () => status.layer1Final,
  );
  registerKnown(
    registers,
    "proofd_layer1_read_block",
    "Newest layer-1 block whose events were read",
    () => status.layer1Read,
  );
}
