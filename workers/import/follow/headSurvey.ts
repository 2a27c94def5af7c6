/**
 * Looks whether another node is ahead of the one that is followed, and then follows that one.
 *
 *   first look     each other node reports its newest block
 *   next look      that block is still missing here: the node is asked for it by number, and for the first missing
 *                  block. If both responses fit, this node is asked first from now on
 *   later          the reported block is still missing: the node is asked last again, and ignored for a while
 *
 * So a head counts once two responses agree. A node that reports a false head delays the import by `graceMs`.
 */

import {findNamedBlock, type NamedBlock, readNamedBlock} from "../../../nodes/rpc/namedBlock.ts";
import type {Node} from "../../../nodes/rpc/node.ts";
import type {Nodes} from "../../../nodes/rpc/nodes.ts";
import type {BlockWriter} from "../../../storage/commit/blockWriter.ts";

const SURVEY_TIMES = {
  /** Between two looks. A node that is behind by less is not left. */
  everyMs: 1000,
  /** Within this time, the block that a node has reported must be stored. */
  graceMs: 5000,
  /** How long a node is ignored whose reported block did not come. */
  barMs: 60_000,
};

interface StoredEnds {
  readonly latest: number;
  readonly latestHash: Uint8Array;
  /** The newest block that must stay. */
  readonly floor: number;
  readonly floorHash: Uint8Array;
}

export class HeadSurvey {
  /** By node, the newest block that it reported at the last look. */
  private claims = new Map<string, NamedBlock>();
  private readonly barredUntilMs = new Map<string, number>();
  /** The node that was put first, and the block that it reported. */
  private leader: {readonly name: string; readonly block: number; readonly dueMs: number} | undefined;
  private nextMs: number;
  private looking: Promise<void> | undefined;
  private failure: unknown;

  /** @param afterMs - before the first look, so that a node that is followed after a failure is not left at once */
  constructor(
    private readonly nodes: Nodes,
    private readonly writer: BlockWriter,
    afterMs: number,
    private readonly times = SURVEY_TIMES,
  ) {
    this.nextMs = performance.now() + afterMs;
  }

  /** Call it while the followed node has no new block; one runs at a time. @throws also what ended the last look */
  look(signal: AbortSignal): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const nowMs = performance.now();
    if (this.looking !== undefined || nowMs < this.nextMs) return this.looking ?? Promise.resolve();
    this.nextMs = nowMs + this.times.everyMs;
    const stored = this.readStored();
    if (stored === undefined) return Promise.resolve();
    this.judgeLeader(stored, nowMs);
    this.looking = this.ask(stored, signal).finally(() => {
      this.looking = undefined;
    });
    this.looking.catch((error: unknown) => {
      this.failure = error;
    });
    return this.looking;
  }

  private readStored(): StoredEnds | undefined {
    const {latest, finalizedTo} = this.writer;
    if (latest === undefined) return undefined;
    const floor = Math.min(Math.max(finalizedTo, 0), latest);
    const [latestHash, floorHash] = [latest, floor].map(block => this.writer.blockHash(block));
    if (latestHash === undefined || floorHash === undefined) return undefined;
    return {latest, latestHash, floor, floorHash};
  }

  private judgeLeader({latest}: StoredEnds, nowMs: number): void {
    if (this.leader === undefined) return;
    const {name, block, dueMs} = this.leader;
    if (latest < block && nowMs < dueMs) return;
    this.leader = undefined;
    if (latest >= block) return;
    this.nodes.putLast(name);
    this.barredUntilMs.set(name, nowMs + this.times.barMs);
  }

  private async ask(stored: StoredEnds, signal: AbortSignal): Promise<void> {
    const claims = new Map<string, NamedBlock>();
    const ahead: {name: string; block: number}[] = [];
    const work = async (node: Node): Promise<void> => {
      const before = this.claims.get(node.name);
      const head = await readNamedBlock(node, "latest");
      claims.set(node.name, head);
      if (performance.now() < (this.barredUntilMs.get(node.name) ?? 0)) return;
      if (before !== undefined && before.number > stored.latest && (await isSure(node, before, stored)))
        ahead.push({name: node.name, block: before.number});
    };
    await this.nodes.useOthers(work, signal);
    this.claims = claims;
    const [best] = ahead.sort((one, other) => other.block - one.block);
    if (best === undefined || this.leader !== undefined) return;
    this.leader = {...best, dueMs: performance.now() + this.times.graceMs};
    this.nodes.putFirst(best.name);
  }
}

/** Does the node still have that block, and the first one missing here, on this chain or a branch above `floor`? */
async function isSure(node: Node, named: NamedBlock, stored: StoredEnds): Promise<boolean> {
  const again = await findNamedBlock(node, named.number);
  if (again === undefined || Buffer.compare(again.hash, named.hash) !== 0) return false;
  const next = await findNamedBlock(node, stored.latest + 1);
  if (next === undefined) return false;
  if (Buffer.compare(next.parentHash, stored.latestHash) === 0) return true;
  const floor = await findNamedBlock(node, stored.floor);
  return floor !== undefined && Buffer.compare(floor.hash, stored.floorHash) === 0;
}
