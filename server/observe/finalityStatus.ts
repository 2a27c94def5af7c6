/** Where finality stands, for /metrics, /readyz and the log. */
import {withCause} from "./withCause.ts";

/**
 *   reading     past events of layer 1 are read
 *   following   all finality was read
 *   waiting     the next finalized block is not stored yet, or too few nodes report one as finalized
 *   stopped     the source contradicts itself or the store. Finality stays where it is
 */
export const FINALITY_STATES = ["reading", "following", "waiting", "stopped"] as const;
export type FinalityStateName = (typeof FINALITY_STATES)[number];

export class FinalityStatus {
  state: FinalityStateName = "reading";
  /** Why finality has stopped. Empty unless the state is "stopped". */
  reason = "";
  /** What is waited for. Told only while the state is "waiting". */
  awaits = "";
  /** No root is compared: blocks are finalized by their number alone. Only for "l1". */
  isByNumber = false;
  /** The newest layer-1 block that is final. Only for "l1". */
  layer1Final: number | undefined;
  /** Events up to this layer-1 block were read. Only for "l1". */
  layer1Read: number | undefined;
  /** The newest block that the source calls finalized. It may be above the newest block in the store. */
  known: number | undefined;
  /** By name, the nodes of --l1 and --l2 that are not up: their state and its cause. */
  readonly nodes = new Map<string, {readonly state: string; readonly reason: string}>();
  /** When the source last answered, in ms since 1970. */
  answeredMs: number | undefined;

  /** @param source - what says which blocks are final: events on layer 1, or the layer-2 node's finalized tag */
  constructor(readonly source: "l1" | "tag") {}

  /** Sets what is waited for. @returns whether that is new, and is to be logged */
  startWaitingFor(what: string): boolean {
    const {awaits} = this;
    this.awaits = what;
    return this.state !== "waiting" || awaits !== what;
  }

  /** @returns lines for /readyz. @param isPublic - without causes (readiness.ts) */
  describe(isPublic: boolean): string[] {
    const lines = this.isByNumber ? ["finality is by block number: no state root is compared"] : [];
    if (this.state === "stopped") lines.unshift(withCause("finality has stopped", this.reason, isPublic));
    if (this.state === "waiting") lines.unshift(withCause("finality is waiting", this.awaits, isPublic));
    return lines;
  }
}
