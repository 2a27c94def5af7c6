/** The messages of a feed: what is encoded comes back, and no other bytes do harm. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {decodeDifference, encodeDifference} from "../../nodes/feed/differenceBytes.ts";
import {FeedError} from "../../nodes/feed/feedError.ts";
import {
  type BlockPart,
  decodeMessage,
  encodeBlock,
  encodeFinality,
  encodeRollback,
  PIECE_BYTES,
  unpackDifference,
} from "../../nodes/feed/feedMessage.ts";
import {decodeLayer1, encodeLayer1} from "../../nodes/feed/finalityBytes.ts";
import type {AccountDifference} from "../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {BlockAssembly} from "../../workers/import/feed/blockAssembly.ts";
import {propertyRuns} from "../support/soak.ts";

const CHAIN = {suite: "sha256", chainId: 1337n} as const;

const bytes = (length: number) =>
  fc.uint8Array({minLength: length, maxLength: length}).map(one => Buffer.from(one));
const word = bytes(32);
const slot = fc.record({slot: word, value: word}, {requiredKeys: ["slot", "value"]});
const change = fc.record(
  {
    reset: fc.constant(true),
    nonce: fc.bigInt({min: 0n, max: 2n ** 64n - 1n}),
    balance: fc.bigInt({min: 0n, max: 2n ** 256n - 1n}),
    code: fc.uint8Array({maxLength: 200}).map(one => Buffer.from(one)),
    storage: fc.array(slot, {maxLength: 4}),
  },
  {requiredKeys: []},
);
const account: fc.Arbitrary<AccountDifference> = fc.record({
  address: bytes(20),
  change: fc.option(change, {nil: undefined}),
});
const difference: fc.Arbitrary<BlockDifference> = fc
  .record({
    number: fc.nat(1000),
    hash: word,
    timestamp: fc.bigInt({min: 0n, max: 2n ** 40n}),
    extraData: bytes(3),
    stateRoot: word,
    accounts: fc.array(account, {maxLength: 6}),
  })
  .map(({number, hash, timestamp, extraData, stateRoot, accounts}) => {
    const list = new AccountDifferences();
    for (const one of accounts) list.add(one);
    const chain = number === 0 ? {chain: {chainId: 5n, config: "{}"}} : {};
    return {
      header: {number, hash, timestamp, extraData},
      expectedStateRoot: stateRoot,
      accounts: list,
      ...chain,
    };
  });

function headOf({header, expectedStateRoot}: BlockDifference) {
  const {number, hash} = header;
  return {
    number,
    hash,
    parentHash: hash,
    stateRoot: expectedStateRoot as Uint8Array,
    isVerified: number % 2 === 0,
  };
}

/** What a replica reads of messages. */
function readBack(messages: readonly Uint8Array[]): BlockDifference {
  const assembly = new BlockAssembly();
  let whole: Buffer | undefined;
  let last: BlockPart | undefined;
  for (const message of messages) {
    last = decodeMessage(CHAIN, message) as BlockPart;
    whole = assembly.take(last);
  }
  return decodeDifference(last as BlockPart, whole as Buffer);
}

test("a block's changes come back as they were, in one message or many", () => {
  fc.assert(
    fc.property(difference, block => {
      const encoded = encodeDifference(block);
      const messages = encodeBlock(CHAIN, headOf(block), encoded);
      const {isVerified} = decodeMessage(CHAIN, messages[0] as Buffer) as BlockPart;
      assert.equal(isVerified, headOf(block).isVerified);
      const again = readBack(messages);
      assert.deepEqual(again.header, block.header);
      assert.deepEqual(again.chain, block.chain);
      assert.deepEqual(again.expectedStateRoot, block.expectedStateRoot);
      assert.deepEqual(encodeDifference(again), encoded);
    }),
    {numRuns: propertyRuns(100)},
  );
});

test("a block of several messages needs each of them, in their order", () => {
  const block = emptyBlock();
  const large = encodeBlock(CHAIN, headOf(block), randomBytes(3 * PIECE_BYTES));
  assert.ok(large.length >= 3);
  const [one, two, three] = large.map(message => decodeMessage(CHAIN, message) as BlockPart) as [
    BlockPart,
    BlockPart,
    BlockPart,
  ];
  const assembly = new BlockAssembly();
  assert.equal(assembly.take(two), undefined);
  assert.equal(assembly.take(one), undefined);
  assert.throws(() => assembly.take(three), /expected part 1 of \d+, got part 2/);
  assembly.take(one);
  assembly.take(one);
  assert.equal(assembly.take(two), undefined);
});

test("rollbacks and finality come back as they were", () => {
  const hash = Buffer.alloc(32, 7);
  assert.deepEqual(decodeMessage(CHAIN, encodeRollback(CHAIN, 9, hash)), {kind: "rollback", number: 9, hash});
  const finality = {
    first: 2,
    record: {
      mark: {block: 5, blockHash: hash, contract: Buffer.alloc(20, 3)},
      count: 3,
      begun: 0,
      from: undefined,
      root: "header" as const,
    },
    finalizations: [
      {
        startBlock: undefined,
        endBlock: 8,
        layer1Block: 4,
        logIndex: 1,
        transactionHash: hash,
        finalRoot: hash,
      },
    ],
  };
  const message = decodeMessage(CHAIN, encodeFinality(CHAIN, 8, hash, encodeLayer1(finality)));
  assert.equal(message.kind, "finality");
  assert.deepEqual(message.kind === "finality" && decodeLayer1(message.layer1), finality);
  assert.equal(decodeLayer1(encodeLayer1(undefined)), undefined);
});

test("messages of another version, suite, chain or kind are refused by name", () => {
  const message = encodeRollback(CHAIN, 1, Buffer.alloc(32));
  const changed = (at: number, byte: number) => Buffer.from(message).fill(byte, at, at + 1);
  assert.throws(() => decodeMessage(CHAIN, changed(0, 0)), {
    name: "FeedError",
    message: /it is none of a feed/,
  });
  assert.throws(() => decodeMessage(CHAIN, changed(3, 2)), {message: /expected version 1, got version 2/});
  assert.throws(() => decodeMessage(CHAIN, changed(4, 9)), {message: /its kind is unknown/});
  assert.throws(() => decodeMessage({...CHAIN, suite: "poseidon2"}, message), {
    message: /expected suite poseidon2, got sha256/,
  });
  assert.throws(() => decodeMessage({...CHAIN, chainId: 1n}, message), {
    message: /expected chain 1, got chain 1337/,
  });
});

test("bytes that were changed, cut or made up end in an error with a reason, and never in another", () => {
  fc.assert(
    fc.property(
      difference,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), {minLength: 1, maxLength: 4}),
      fc.nat(),
      (block, edits, cut) => {
        for (const whole of [
          ...encodeBlock(CHAIN, headOf(block), encodeDifference(block)),
          encodeDifference(block),
        ]) {
          const forged = Buffer.from(whole).subarray(0, whole.length - (cut % 3));
          for (const [at, byte] of edits) forged[at % forged.length] = byte;
          for (const read of [
            () => readBack([forged]),
            () => decodeDifference({number: 3, hash: forged, stateRoot: forged}, forged),
            () => decodeLayer1(forged),
          ])
            try {
              read();
            } catch (error) {
              assert.ok(error instanceof FeedError, String((error as Error).stack));
            }
        }
      },
    ),
    {numRuns: propertyRuns(300)},
  );
});

test("changes that unpack to more than they say do not fill the memory", () => {
  const [message] = encodeBlock(CHAIN, headOf(emptyBlock()), Buffer.alloc(50_000_000));
  const part = decodeMessage(CHAIN, message as Buffer) as BlockPart;
  assert.throws(() => unpackDifference({...part, unpackedBytes: 1000}, part.piece), {
    message: /its changes do not unpack/,
  });
});

function emptyBlock(): BlockDifference {
  return {
    header: {number: 1, hash: Buffer.alloc(32)},
    expectedStateRoot: Buffer.alloc(32),
    accounts: new AccountDifferences(),
  };
}

function randomBytes(length: number): Buffer {
  const out = Buffer.alloc(length);
  let state = 1;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    out[at] = state >>> 24;
  }
  return out;
}
