/** The messages of a feed: what is encoded comes back, and no other bytes do harm. */
import assert from "node:assert/strict";
import {randomBytes} from "node:crypto";
import {test} from "node:test";
import {deflateRawSync, inflateRawSync} from "node:zlib";
import fc from "fast-check";
import {mostPackedBytes, packChanges, unpackChanges} from "../../nodes/feed/blockChanges.ts";
import {FeedError} from "../../nodes/feed/feedError.ts";
import {
  type BlockHead,
  bodyBytes,
  decodeHead,
  encodeHead,
  type FinalityHead,
  PUBLISHER_BYTES,
} from "../../nodes/feed/feedMessage.ts";
import {decodeLayer1, encodeLayer1} from "../../nodes/feed/finalityBytes.ts";
import type {AccountDifference} from "../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {BlockAssembly} from "../../workers/import/feed/feedBlocks.ts";
import {propertyRuns} from "../support/soak.ts";

const CHAIN = {suite: "sha256", chainId: 1337n} as const;
const PUBLISHER = Buffer.alloc(PUBLISHER_BYTES, 9);

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
const OWN = {noNullPrototype: true};
const nodes = fc.array(
  fc.uint8Array({minLength: 1, maxLength: 80}).map(one => Buffer.from(one)),
  {maxLength: 4},
);
const wholeSlots = fc.array(fc.record({path: word, value: word}, OWN), {maxLength: 3});
const contract = fc.record(
  {
    address: bytes(20),
    slots: fc.array(fc.record({slot: word, before: nodes}, OWN), {maxLength: 3}),
    whole: fc.option(wholeSlots, {nil: undefined}),
  },
  OWN,
);
const slice: fc.Arbitrary<BlockDifference["slice"]> = fc.oneof(
  fc.constant(undefined),
  fc.constant("missed" as const),
  fc.record({isFresh: fc.boolean(), nodes, contracts: fc.array(contract, {maxLength: 3})}, OWN),
);
const difference: fc.Arbitrary<BlockDifference> = fc
  .record({
    number: fc.nat(1000),
    hash: word,
    timestamp: fc.bigInt({min: 0n, max: 2n ** 40n}),
    extraData: bytes(3),
    stateRoot: word,
    accounts: fc.array(account, {maxLength: 6}),
    slice,
  })
  .map(({number, hash, timestamp, extraData, stateRoot, accounts, slice}) => {
    const list = new AccountDifferences();
    for (const one of slice === undefined ? accounts : []) list.add(one);
    const chain = number === 0 ? {chain: {chainId: 5n, config: "{}"}} : {};
    return {
      header: {number, hash, timestamp, extraData},
      expectedStateRoot: stateRoot,
      accounts: list,
      slice,
      ...chain,
    };
  });

/** A block's messages, as a publisher sends them. */
function encodeBlock(block: BlockDifference, size: number): {text: string; piece: Buffer}[] {
  const packed = packChanges(block) as Buffer;
  const [unpackedBytes, pieces] = [packed.readUInt32BE(0), packed.subarray(4)];
  const parts = Math.max(1, Math.ceil(pieces.length / size));
  const {number, hash} = block.header;
  return Array.from({length: parts}, (_, part) => {
    const head = {...headOf(number, hash, block.expectedStateRoot as Uint8Array), part, parts, unpackedBytes};
    return {text: encodeHead(CHAIN, head), piece: pieces.subarray(part * size, (part + 1) * size)};
  });
}

function headOf(number: number, hash: Uint8Array, stateRoot: Uint8Array): BlockHead {
  const fields = {kind: "block", publisher: PUBLISHER, number, hash, parentHash: hash, stateRoot} as const;
  return {...fields, isVerified: number % 2 === 0, part: 0, parts: 1, unpackedBytes: 0};
}

/** What a replica reads of messages. */
function readBack(messages: readonly {text: string; piece: Buffer}[]): BlockDifference | undefined {
  const assembly = new BlockAssembly();
  let whole: BlockDifference | undefined;
  for (const {text, piece} of messages) {
    const head = decodeHead(CHAIN, text);
    if (head.kind === "finality") continue;
    const packed = assembly.take(head, piece);
    if (packed !== undefined) whole = unpackChanges(head, head.unpackedBytes, packed);
  }
  return whole;
}

test("a block's changes come back as they were, in one message or many", () => {
  fc.assert(
    fc.property(difference, fc.integer({min: 10, max: 1000}), (block, size) => {
      const messages = encodeBlock(block, size);
      const head = decodeHead(CHAIN, messages[0]?.text);
      assert.equal(head.kind === "block" && head.isVerified, block.header.number % 2 === 0);
      assert.deepEqual(head.publisher, PUBLISHER);
      const again = readBack(messages) as BlockDifference;
      assert.deepEqual(again.header, block.header);
      assert.deepEqual(again.chain, block.chain);
      assert.deepEqual(again.slice, block.slice);
      assert.deepEqual(again.expectedStateRoot, block.expectedStateRoot);
      assert.deepEqual(packChanges(again), packChanges(block));
    }),
    {numRuns: propertyRuns(100)},
  );
});

test("what a source says of the state before a block is not sent, nor what the block only read", () => {
  const [address, other] = [Buffer.alloc(20, 1), Buffer.alloc(20, 2)];
  const [name, value] = [Buffer.alloc(32, 3), Buffer.alloc(32, 4)];
  const blockOf = (...accounts: AccountDifference[]): BlockDifference => {
    const list = new AccountDifferences();
    for (const one of accounts) list.add(one);
    return {...emptyBlock(), accounts: list};
  };
  const sent = {reset: true, keepsCode: true, nonce: 1n, storage: [{slot: name, value, reset: true}]};
  const told = {...sent, storage: [{slot: name, value, reset: true, before: value}]};
  const before = {present: true, nonce: 0n};
  assert.deepEqual(
    packChanges(
      blockOf({address, change: told, before}, {address: other, change: {}, before, onlyRead: true}),
    ),
    packChanges(blockOf({address, change: sent})),
  );
});

test("a block of several messages needs each of them, in their order", () => {
  const piece = Buffer.alloc(10);
  const part = (at: number): BlockHead => ({
    ...headOf(1, Buffer.alloc(32), Buffer.alloc(32)),
    ...{part: at, parts: 3, unpackedBytes: 100},
  });
  const assembly = new BlockAssembly();
  assert.equal(assembly.take(part(1), piece), undefined);
  assert.equal(assembly.take(part(0), piece), undefined);
  assert.throws(() => assembly.take(part(2), piece), /expected part 1 of 3, got part 2/);
  assembly.take(part(0), piece);
  assembly.take(part(0), piece);
  assert.equal(assembly.take(part(1), piece), undefined);
  assert.equal(assembly.take(part(2), piece)?.length, 30);
});

test("a block that never ends is refused once it has more than its changes can be packed to", () => {
  const unpackedBytes = 100_000;
  const most = mostPackedBytes(1, unpackedBytes);
  const piece = Buffer.alloc(10_000);
  const assembly = new BlockAssembly();
  let taken = 0;
  const endless = () => {
    for (let part = 0; ; part++) {
      assembly.take({...headOf(1, piece, piece), hash: piece, part, parts: 65_535, unpackedBytes}, piece);
      taken += piece.length;
    }
  };
  assert.throws(endless, {name: "FeedError", message: new RegExp(`of ${most} bytes at most in all`)});
  assert.ok(taken <= most);
  assert.throws(() =>
    decodeHead(CHAIN, encodeHead(CHAIN, {...headOf(1, PUBLISHER, PUBLISHER), unpackedBytes: 2 ** 31})),
  );
});

test("whatever bytes are packed, they have no more than mostPackedBytes says", () => {
  for (const length of [0, 1, 100, 16_383, 16_384, 65_536, 1_000_000])
    assert.ok(deflateRawSync(randomBytes(length), {level: 1}).length <= mostPackedBytes(1, length));
});

test("heads of finality come back as they were, and so does what is recorded of layer 1", () => {
  const hash = Buffer.alloc(32, 7);
  const head: FinalityHead = {kind: "finality", publisher: PUBLISHER, number: 9, hash, first: 2, count: 3};
  assert.deepEqual(decodeHead(CHAIN, encodeHead(CHAIN, head)), head);
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
        names: "blockHash" as const,
        final: hash,
      },
    ],
  };
  assert.deepEqual(decodeLayer1(encodeLayer1(finality)), finality);
  assert.equal(decodeLayer1(encodeLayer1(undefined)), undefined);
});

test("messages of another version, suite, chain or kind are refused by name", () => {
  const text = encodeHead(CHAIN, headOf(1, Buffer.alloc(32), Buffer.alloc(32)));
  const changed = (at: number, byte: number) =>
    Buffer.from(text, "base64")
      .fill(byte, at, at + 1)
      .toString("base64");
  const refused = (given: string | undefined, message: RegExp, chain: typeof CHAIN | object = CHAIN) =>
    assert.throws(
      () => decodeHead({...CHAIN, ...chain}, given),
      (error: Error) => {
        assert.ok(error instanceof FeedError);
        assert.match(error.message, message);
        return true;
      },
    );
  refused(undefined, /the message: expected at least/);
  refused(changed(0, 0), /it is not a message of a feed/);
  refused(changed(3, 3), /expected version 2, got version 3/);
  refused(changed(4, 9), /its kind is unknown/);
  refused(text, /expected suite poseidon2, got sha256/, {suite: "poseidon2"});
  refused(text, /expected chain 1, got chain 1337/, {chainId: 1n});
});

test("bodies fit what a server takes, and a server that takes too little is refused by name", () => {
  assert.equal(bodyBytes(1 << 20), 512 * 1024);
  assert.ok(bodyBytes(65_536) < 65_536);
  assert.throws(
    () => bodyBytes(4096),
    /takes messages of 4096 bytes at most: a feed needs max_payload of 6144/,
  );
});

test("bytes that were changed, cut or made up end in an error with a reason, and never in another", () => {
  fc.assert(
    fc.property(
      difference,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), {minLength: 1, maxLength: 4}),
      fc.nat(),
      (block, edits, cut) => {
        const forge = (whole: Buffer): Buffer => {
          const forged = Buffer.from(whole).subarray(0, whole.length - (cut % 3));
          for (const [at, byte] of edits) forged[at % forged.length] = byte;
          return forged;
        };
        const [message] = encodeBlock(block, 1 << 20);
        const {text, piece} = message as {text: string; piece: Buffer};
        const changes = forge(inflateRawSync(piece));
        for (const read of [
          () => readBack([{text: forge(Buffer.from(text, "base64")).toString("base64"), piece}]),
          () => readBack([{text, piece: forge(piece)}]),
          () =>
            unpackChanges(
              {number: 3, hash: piece, stateRoot: piece},
              changes.length,
              deflateRawSync(changes),
            ),
          () => decodeLayer1(forge(piece)),
        ])
          try {
            read();
          } catch (error) {
            assert.ok(error instanceof FeedError, String((error as Error).stack));
          }
      },
    ),
    {numRuns: propertyRuns(300)},
  );
});

test("changes that unpack to more than they say do not fill the memory", () => {
  const block = {number: 1, hash: PUBLISHER, stateRoot: PUBLISHER};
  assert.throws(() => unpackChanges(block, 1000, deflateRawSync(Buffer.alloc(50_000_000))), {
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
