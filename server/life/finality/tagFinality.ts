/** Finality by the finalized tag of the layer-2 node, for rollups whose node knows it. */
import type {Logger} from "pino";
import {readFinalizedTag} from "../../../nodes/finality/finalizedTag.ts";
import {Contradiction} from "../../../nodes/rpc/node.ts";
import type {Nodes} from "../../../nodes/rpc/nodes.ts";
import {toHex} from "../../../storage/hex.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {FinalityStatus} from "../../observe/finalityStatus.ts";
import type {FinalityWork} from "./finalizing.ts";

export class TagFinality implements FinalityWork {
  /** @param nodes - of layer 2; the caller closes them */
  constructor(
    private readonly engine: Engine,
    private readonly nodes: Nodes,
    private readonly status: FinalityStatus,
    private readonly log: Logger,
  ) {}

  /** Finality never falls: a node that names a lower block than another node did changes nothing. */
  async step(signal: AbortSignal): Promise<"following"> {
    const {chain} = this.engine;
    const {finalized} = chain.head();
    const highest = chain.newest;
    if (highest < 0) return "following";
    const {tag, block} = await readFinalizedTag(this.nodes, highest, signal);
    this.status.answeredMs = Date.now();
    this.status.known = Math.max(this.status.known ?? 0, tag);
    const held = chain.readHeader(block.number);
    // A rollback removed the block while the node was asked.
    if ("failure" in held && held.failure === "BLOCK_UNKNOWN") return "following";
    if ("failure" in held) throw new Error(held.detail);
    if (Buffer.compare(held.hash, block.hash) !== 0)
      throw new Contradiction(
        `block ${block.number} has hash ${toHex(held.hash)} here, but ${toHex(block.hash)} at the node, which calls block ${tag} finalized`,
      );
    if (block.number <= (finalized ?? -1)) return "following";
    await this.engine.finalize(block.number, block.hash);
    this.log.info({finalized: block.number}, "finalized by the layer-2 node");
    return "following";
  }
}
