/** The way from what a store holds to the chain that a stream says, in streams of random branches, cut blocks and finality. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {
  type BlockHead,
  type FeedHead,
  type FinalityHead,
  PUBLISHER_BYTES,
} from "../../nodes/feed/feedMessage.ts";
import {findPath, skipsOf} from "../../nodes/feed/feedPath.ts";
import type {Sequenced} from "../../nodes/feed/feedStream.ts";
import {propertyRuns} from "../support/soak.ts";

const publisher = Buffer.alloc(PUBLISHER_BYTES);
const SIGNAL = new AbortController().signal;

/** A block of a tree of blocks. */
interface Block {
  readonly number: number;
  readonly hash: Buffer;
  readonly parent: Block | undefined;
}

/** What a publisher does: it leaves `back` blocks, adds some, or returns to a tip that the stream had. */
const step = fc.record({
  back: fc.nat(6),
  add: fc.nat(4),
  returns: fc.option(fc.nat(), {nil: undefined}),
  /** Of the last block added: parts, and how many of them were sent in vain before. */
  parts: fc.integer({min: 1, max: 4}),
  cut: fc.nat(3),
  finalizations: fc.nat(2),
});

class Written {
  readonly log: Sequenced[] = [];
  readonly tips: Block[] = [{number: 0, hash: hashOf(0), parent: undefined}];
  private blocks = 1;
  finalizations = 0;

  get tip(): Block {
    return this.tips.at(-1) as Block;
  }

  /** A branch is sent from the last common block on. */
  go(to: Block, parts: number, cut: number): void {
    const held = new Set(this.log.length === 0 ? [] : ancestors(this.tip));
    const missing = ancestors(to).filter(one => !held.has(one));
    for (const block of missing.reverse()) {
      for (let part = 0; part < Math.min(cut, parts - 1); part++) this.send(partOf(block, part, parts));
      for (let part = 0; part < parts; part++) this.send(partOf(block, part, parts));
    }
    if (missing.length > 0) this.tips.push(to);
  }

  grow(from: Block, count: number): Block {
    let block = from;
    for (let at = 0; at < count; at++)
      block = {number: block.number + 1, hash: hashOf(this.blocks++), parent: block};
    return block;
  }

  finalize(count: number): void {
    const first = this.finalizations;
    this.finalizations += count;
    const {number, hash} = ancestors(this.tip).at(-1) as Block;
    const head = {kind: "finality", publisher, number, hash, first, count: this.finalizations} as const;
    if (count > 0) this.send(head);
  }

  private send(head: FeedHead): void {
    // Messages of other chains lie between.
    this.log.push({sequence: 1 + 2 * this.log.length, head});
  }
}

function hashOf(number: number): Buffer {
  const hash = Buffer.alloc(32);
  hash.writeUInt32BE(number + 1);
  return hash;
}

function partOf({number, hash, parent}: Block, part: number, parts: number): BlockHead {
  const parentHash = parent?.hash ?? Buffer.alloc(32);
  const rest = {stateRoot: hash, isVerified: true, part, parts, unpackedBytes: 1};
  return {kind: "block", publisher, number, hash, parentHash, ...rest};
}

/** The block, its parent, and so on. */
function ancestors(block: Block): Block[] {
  const all: Block[] = [];
  for (let at: Block | undefined = block; at !== undefined; at = at.parent) all.push(at);
  return all;
}

function write(steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]): Written {
  const written = new Written();
  written.go(written.tip, 1, 0);
  for (const {back, add, returns, parts, cut, finalizations} of steps) {
    const chain = ancestors(written.tip);
    const base =
      returns === undefined
        ? (chain[Math.min(back, chain.length - 1)] as Block)
        : (written.tips[returns % written.tips.length] as Block);
    // At least one more: a publisher sends nothing to go back to a block.
    written.go(written.grow(base, add + 1), parts, cut);
    written.finalize(finalizations);
  }
  return written;
}

test("whatever branches a stream has, a store on any of them finds the blocks that it lacks, in their order, and every finalization", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(step, {minLength: 1, maxLength: 40}),
      fc.nat(),
      fc.nat(8),
      fc.nat(),
      async (steps, which, below, known) => {
        const {log, tip, tips, finalizations} = write(steps);
        const held = ancestors(tips[which % tips.length] as Block)
          .slice(below)
          .reverse();
        const recorded = known % (finalizations + 1);
        const last = (log.at(-1) as Sequenced).sequence + 1;
        const stream = {
          readHeads: async (from: number, to: number) =>
            log.filter(({sequence}) => sequence >= from && sequence <= to),
        };
        const finality = log.findLast(({head}) => head.kind === "finality") as
          | Sequenced<FinalityHead>
          | undefined;
        const path = await findPath(
          stream,
          {firstSequence: 1, lastSequence: last, block: undefined, finality},
          {
            latest: held.length - 1,
            finalized: 0,
            finalizations: recorded,
            hashOf: block => held[block]?.hash,
          },
          SIGNAL,
        );
        assert.equal(path.lack, undefined);
        const chain = ancestors(tip).reverse();
        const common = chain.filter(one => held[one.number] === one).length - 1;
        assert.equal(path.common, common);
        // What a reader takes, block by block.
        const skips = skipsOf(path);
        const taken: number[] = [];
        let [parts, count] = [0, recorded];
        for (const {sequence, head} of log) {
          if (sequence < path.from || skips(sequence, head.kind === "block")) continue;
          if (head.kind === "finality") {
            assert.ok(head.first <= count);
            count = Math.max(count, head.count);
            continue;
          }
          assert.equal(head.part, parts);
          parts = head.part === head.parts - 1 ? 0 : parts + 1;
          if (parts === 0) taken.push(Buffer.from(head.hash).readUInt32BE());
        }
        assert.deepEqual(
          taken,
          chain.slice(common + 1).map(({hash}) => hash.readUInt32BE()),
        );
        assert.equal(count, finalizations);
      },
    ),
    {numRuns: propertyRuns(300)},
  ));

test("a server that has not the stream's last message yet is not believed", async () => {
  const {log, finalizations} = write([
    {back: 0, add: 2, returns: undefined, parts: 1, cut: 0, finalizations: 0},
    {back: 1, add: 2, returns: undefined, parts: 1, cut: 0, finalizations: 0},
  ]);
  const {sequence, head} = log.at(-1) as Sequenced<BlockHead>;
  const held = {latest: -1, finalized: -1, finalizations, hashOf: () => undefined};
  const tip = {firstSequence: 1, lastSequence: sequence, block: {sequence, head}, finality: undefined};
  const stream = {readHeads: async () => log.slice(0, -1)};
  await assert.rejects(findPath(stream, tip, held, SIGNAL), {
    name: "NatsAway",
    message: `NATS: the server that answers has no message ${sequence} yet`,
  });
});
