/** Finality by the finalized tag of layer-2 nodes. */
import type {Logger} from "pino";
import {readFinalizedTag} from "../../../nodes/finality/finalizedTag.ts";
import {Contradiction} from "../../../nodes/rpc/node.ts";
import type {Nodes} from "../../../nodes/rpc/nodes.ts";
import {toHex} from "../../../storage/hex.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {FinalityStatus} from "../../observe/finalityStatus.ts";
import type {FinalitySource} from "./finalizing.ts";

export class TagFinality implements FinalitySource {
  constructor(
    private readonly engine: Engine,
    private readonly nodes: Nodes,
    private readonly status: FinalityStatus,
    private readonly log: Logger,
  ) {}

  /** Finality never falls: a lower tag changes nothing. */
  async step(signal: AbortSignal): Promise<"following" | "waiting"> {
    const {chain} = this.engine;
    const {finalized} = chain.head();
    const highest = chain.newest;
    if (highest < 0) return "following";
    const said = await readFinalizedTag(this.nodes, highest, signal);
    if ("awaits" in said) {
      if (this.status.startWaitingFor(said.awaits)) this.log.info(said.awaits);
      return "waiting";
    }
    const {tag, number, hashes} = said;
    this.status.answeredMs = Date.now();
    this.status.known = Math.max(this.status.known ?? 0, tag);
    const stored = chain.readHeader(number);
    // It was rolled back while the nodes were asked.
    if ("failure" in stored && stored.failure === "BLOCK_UNKNOWN") return "following";
    if ("failure" in stored) throw new Error(stored.detail);
    const other = hashes.find(({hash}) => Buffer.compare(stored.hash, hash) !== 0);
    if (other !== undefined)
      throw new Contradiction(
        `block ${number} has hash ${toHex(stored.hash)} here, but ${toHex(other.hash)} at the node ${other.node}; block ${tag} is called finalized`,
      );
    if (number <= (finalized ?? -1)) return "following";
    await this.engine.writes.finalize(number, stored.hash);
    this.log.info({finalized: number}, "finalized by the layer-2 node");
    return "following";
  }
}
