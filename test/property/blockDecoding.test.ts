/** Blocks decoded by our own code against @ethereumjs: the same values, and nothing accepted that the library refuses. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {createBlockFromRLP} from "@ethereumjs/block";
import {type NestedUint8Array, RLP} from "@ethereumjs/rlp";
import {type Blob4844Tx, createTx, type EOACode7702Tx, type TypedTransaction} from "@ethereumjs/tx";
import {createWithdrawal, eoaCode7702SignAuthorization, KECCAK256_RLP_ARRAY} from "@ethereumjs/util";
import fc from "fast-check";
import type {Transaction} from "../../evm/execution/block/blockTransaction.ts";
import {type DecodedBlock, decodeBlock} from "../../evm/execution/block/decodedBlock.ts";
import {decodeBlockHead} from "../../evm/execution/blockHead.ts";
import {BlockMismatch, ExecutionError} from "../../evm/execution/executionError.ts";
import {ForkSchedule} from "../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../evm/execution/forks.ts";
import {forkRules} from "../../evm/execution/rules/forkRules.ts";
import {checkTransaction} from "../../evm/execution/run/transactionCheck.ts";
import {recoverAddress} from "../../evm/interpreter/ecrecover.ts";
import {toHex} from "../../storage/hex.ts";
import {RlpError} from "../../storage/rlp/rlpReader.ts";
import {listRoot} from "../../storage/trie/listRoot.ts";
import {createFullRules} from "../support/evm/fullRules.ts";
import {isSoak, propertyRuns} from "../support/soak.ts";

const FORK = "prague";
const KEYS = [7, 8, 9].map(byte => new Uint8Array(32).fill(byte));
const GAS_LIMIT = 30_000_000n;

/** Chain ids whose RLP is a byte, two bytes, and more than a number of 53 bits has left for v. */
const CHAINS = [1n, 200n, 3_503_995_874_084_926n].map(chainId => {
  const common = createFullRules(new ForkSchedule({...configOfFork(FORK), chainId: Number(chainId)}));
  common.setHardfork(FORK);
  return {chainId, common};
});
type Chain = (typeof CHAINS)[number];

const bytes = (length: number) => fc.uint8Array({minLength: length, maxLength: length});
const address = bytes(20);
const amount = fc.oneof(
  fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n),
  fc.bigInt({min: 0n, max: 2n ** 90n}),
);
const data = fc.oneof(
  fc.constantFrom(...[0, 1, 55, 56, 255, 256, 66_000].map(length => new Uint8Array(length).fill(0xd0))),
  fc.uint8Array({maxLength: 70}),
);
const listed = fc.tuple(address, fc.array(bytes(32), {maxLength: 3}));
const fields = fc.record({
  type: fc.constantFrom(0, 1, 2, 3, 4),
  key: fc.constantFrom(...KEYS),
  nonce: fc.bigInt({min: 0n, max: 2n ** 64n - 2n}),
  gasLimit: fc.bigInt({min: 3_000_000n, max: GAS_LIMIT}),
  to: fc.option(address, {nil: undefined}),
  value: amount,
  data,
  maxPriorityFeePerGas: amount,
  accessList: fc.array(listed, {maxLength: 3}),
  blobs: fc.array(bytes(31), {minLength: 1, maxLength: 3}),
  authorizations: fc.array(
    fc.tuple(
      fc.constantFrom(...KEYS),
      address,
      amount.filter(n => n < 2n ** 64n),
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
});

function makeTransaction(given: typeof fields extends fc.Arbitrary<infer T> ? T : never, chain: Chain) {
  const {type, key, authorizations, blobs, to, maxPriorityFeePerGas, accessList, ...call} = given;
  const {chainId, common} = chain;
  const price = maxPriorityFeePerGas + 7n;
  const target = to ?? (type < 3 ? undefined : new Uint8Array(20));
  const fees = type < 2 ? {gasPrice: price} : {maxPriorityFeePerGas, maxFeePerGas: price};
  const more = {
    // EIP-3860.
    data: call.data.subarray(0, target === undefined ? 49_152 : undefined),
    ...(target !== undefined && {to: toHex(target) as `0x${string}`}),
    ...(type > 0 && {chainId, accessList: accessList as [Uint8Array, Uint8Array[]][]}),
    ...(type === 3 && {
      maxFeePerBlobGas: 1n + maxPriorityFeePerGas,
      blobVersionedHashes: blobs.map(rest => toHex(Uint8Array.of(1, ...rest)) as `0x${string}`),
    }),
    ...(type === 4 && {
      authorizationList: authorizations.map(([signer, delegate, nonce]) =>
        eoaCode7702SignAuthorization([number(chainId), delegate, number(nonce)], signer),
      ),
    }),
  };
  return createTx({...call, ...fees, ...more, type} as Parameters<typeof createTx>[0], {common}).sign(key);
}

const withdrawals = fc.array(fc.tuple(amount, amount, address, amount), {maxLength: 3});

function encodeBlock(
  transactions: readonly (Uint8Array | NestedUint8Array)[],
  given: readonly NestedUint8Array[],
): Uint8Array {
  const leaves = transactions.map(one => (one instanceof Uint8Array ? one : RLP.encode(one)));
  const blobs = leaves.reduce((sum, leaf) => sum + (leaf[0] === 3 ? 1 : 0), 0);
  const none = new Uint8Array(0);
  const header = [
    ...[
      new Uint8Array(32).fill(1),
      KECCAK256_RLP_ARRAY,
      new Uint8Array(20),
      new Uint8Array(32),
      listRoot(leaves),
    ],
    ...[new Uint8Array(32), new Uint8Array(256), none, 9n, GAS_LIMIT, none, 1000n, none, new Uint8Array(32)],
    ...[new Uint8Array(8), 7n, listRoot(given.map(one => RLP.encode(one))), BigInt(blobs) * 131_072n, none],
    ...[new Uint8Array(32), new Uint8Array(32)],
  ];
  return RLP.encode([header as Uint8Array[], transactions as Uint8Array[], [], [...given]]);
}

const raw = (one: TypedTransaction) => (one.type === 0 ? (one.raw() as Uint8Array[]) : one.serialize());

test("a block decodes to what the library reads, signers too", () => {
  fc.assert(
    fc.property(fc.nat({max: 2}), fc.array(fields, {maxLength: 6}), withdrawals, (at, given, paid) => {
      const chain = CHAINS[at] as Chain;
      const transactions = given.map(one => makeTransaction(one, chain));
      const raws = paid.map(([index, validator, to, gwei]) => [
        ...[number(index % 2n ** 64n), number(validator % 2n ** 64n), to, number(gwei % 2n ** 64n)],
      ]);
      const block = encodeBlock(transactions.map(raw), raws);
      const own = decode(block, chain);
      assertSame(own, block, chain);
      assert.equal(own.transactions.length, transactions.length);
    }),
    {numRuns: propertyRuns(10)},
  );
});

test("what is changed in a transaction is refused, or read as the library reads it", () => {
  let accepted = 0;
  const place = fc.tuple(fc.nat(), fc.nat(), fc.nat({max: 6}));
  fc.assert(
    fc.property(fc.nat({max: 2}), fields, place, (chain, given, [at, value, kind]) => {
      const short = {...given, data: given.data.subarray(0, 100)};
      const encoded = makeTransaction(short, CHAINS[chain] as Chain).serialize();
      const changed = change(encoded, at % encoded.length, value, kind);
      if (isAccepted(placeIn(changed), CHAINS[chain] as Chain)) accepted++;
    }),
    {numRuns: propertyRuns(200)},
  );
  assert.ok(accepted > 10, `${accepted} were accepted`);
});

/** In place of a field: values and lengths at the ends of what fields may have, and a list. */
const OTHERS: readonly (Uint8Array | NestedUint8Array)[] = [
  ...[0, 1, 2, 28, 29].map(byte => Uint8Array.of(byte)),
  ...[0, 8, 9, 19, 20, 21, 31, 32, 33].map(length => new Uint8Array(length).fill(1)),
  [],
];

function* listReplaced(list: NestedUint8Array): Generator<NestedUint8Array> {
  for (const [at, field] of list.entries()) {
    for (const other of OTHERS) yield list.with(at, other);
    if (Array.isArray(field)) for (const inner of listReplaced(field)) yield list.with(at, inner);
  }
}

test("a transaction with another value in any field is refused, or read as the library reads it", t => {
  const [key = assert.fail()] = KEYS;
  const [to, word] = [new Uint8Array(20).fill(5), new Uint8Array(32).fill(6)];
  const call: Omit<Parameters<typeof makeTransaction>[0], "type"> = {
    ...{key, to, nonce: 5n, gasLimit: 3_000_000n, value: 1n, data: word, maxPriorityFeePerGas: 3n},
    ...{accessList: [[to, [word]]], authorizations: [[key, to, 1n]], blobs: [word.subarray(1)]},
  };
  const counts = {refused: 0, accepted: 0};
  for (const type of [0, 1, 2, 3, 4] as const) {
    const chain = CHAINS[type % CHAINS.length] as Chain;
    const encoded = makeTransaction({...call, type}, chain).serialize();
    const head = encoded.subarray(0, type === 0 ? 0 : 1);
    for (const fields of listReplaced(RLP.decode(encoded.subarray(head.length)) as NestedUint8Array)) {
      const changed = placeIn(Uint8Array.of(...head, ...RLP.encode(fields)));
      counts[isAccepted(changed, chain) ? "accepted" : "refused"]++;
    }
  }
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.refused > 500 && counts.accepted > 100, JSON.stringify(counts));
});

test("a header with a changed bit is refused, or read as the library reads it", () => {
  const block = encodeBlock([], []);
  let accepted = 0;
  for (let bit = 0; bit < 8 * block.length; bit += isSoak() ? 1 : 11) {
    const changed = Uint8Array.from(block);
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
    if (isAccepted(changed, CHAINS[0] as Chain)) accepted++;
  }
  assert.ok(accepted > 10, `${accepted} were accepted`);
});

function decode(block: Uint8Array, {chainId}: Chain): DecodedBlock {
  return decodeBlock(block, decodeBlockHead(block, "the block"), forkRules(FORK), chainId, false);
}

/** False: our own EVM would leave the block to the library. */
function isAccepted(block: Uint8Array, chain: Chain): boolean {
  const context = {
    rules: forkRules(FORK),
    chainId: chain.chainId,
    coinbase: new Uint8Array(20),
    baseFee: 7n,
    blobBaseFee: 1n,
  };
  let own: DecodedBlock;
  try {
    own = decode(block, chain);
    for (const transaction of own.transactions) {
      checkTransaction(transaction, context, GAS_LIMIT);
      const {hash, rs, isOdd} = transaction.signature;
      if (recoverAddress(hash, rs, isOdd) === undefined) return false;
    }
  } catch (error) {
    const isRefusal = [RlpError, BlockMismatch, ExecutionError].some(kind => error instanceof kind);
    assert.ok(isRefusal, String(error));
    return false;
  }
  assertSame(own, block, chain);
  return true;
}

/** A flipped bit, another byte, a byte less or more, or a transaction that is cut short or continued. */
function change(encoded: Uint8Array, at: number, value: number, kind: number): Uint8Array {
  const [before, after] = [encoded.subarray(0, at), encoded.subarray(at + 1)];
  const byte = encoded[at] as number;
  if (kind < 3) return Uint8Array.of(...before, byte ^ (1 << (value & 7)), ...after);
  if (kind === 3) return Uint8Array.of(...before, value & 0xff, ...after);
  if (kind === 4) return Uint8Array.of(...before, ...after);
  return kind === 5 ? Uint8Array.of(...before, value & 0xff, byte, ...after) : Uint8Array.of(...encoded, 0);
}

/** The block's transactions are these bytes, whether they are RLP or not. One that is no list is a byte string. */
function placeIn(leaf: Uint8Array): Uint8Array {
  const placed = (leaf[0] ?? 0) >= 0xc0 ? leaf : RLP.encode(leaf);
  const [header] = RLP.decode(encodeBlock([], [])) as [Uint8Array[]];
  header[4] = listRoot([leaf]);
  header[17] = leaf[0] === 3 ? number(131_072n) : new Uint8Array(0);
  const parts = [RLP.encode(header), withHead(placed), RLP.encode([]), RLP.encode([])];
  return withHead(Buffer.concat(parts));
}

function withHead(payload: Uint8Array): Uint8Array {
  if (payload.length < 56) return Uint8Array.of(0xc0 + payload.length, ...payload);
  const length = number(BigInt(payload.length));
  return Uint8Array.of(0xf7 + length.length, ...length, ...payload);
}

function assertSame(own: DecodedBlock, block: Uint8Array, {common}: Chain): void {
  const library = createBlockFromRLP(block, {common});
  const {header} = library;
  assert.deepEqual(own.header.coinbase, header.coinbase.bytes);
  for (const name of [
    "parentHash",
    "stateRoot",
    "logsBloom",
    "parentBeaconBlockRoot",
    "requestsHash",
  ] as const)
    assert.deepEqual(own.header[name], header[name], name);
  assert.deepEqual(own.header.receiptsRoot, header.receiptTrie);
  assert.equal(own.header.random, BigInt(toHex(header.mixHash)));
  assert.equal(own.header.baseFee, header.baseFeePerGas);
  for (const name of ["number", "gasLimit", "gasUsed", "timestamp", "blobGasUsed", "excessBlobGas"] as const)
    assert.equal(own.header[name], header[name], name);
  assert.deepEqual(
    own.withdrawals.map(({address: to, gwei}) => [toHex(to), gwei]),
    library.withdrawals?.map(one => [`${createWithdrawal(one).address}`, one.amount]),
  );
  for (const [position, transaction] of library.transactions.entries())
    assertTransaction(own.transactions[position] as Transaction, transaction);
}

function assertTransaction(own: Transaction, library: TypedTransaction): void {
  const {hash, rs, isOdd} = own.signature;
  const sender = recoverAddress(hash, rs, isOdd);
  assert.equal(sender === undefined ? "nobody" : toHex(sender), signerOf(library));
  for (const name of ["type", "nonce", "gasLimit", "value"] as const)
    assert.equal(own[name], library[name], name);
  assert.deepEqual(own.data, library.data);
  assert.equal(own.to && toHex(own.to), library.to?.toString());
  const {gasPrice, maxFeePerGas, maxPriorityFeePerGas} = library as unknown as Record<string, bigint>;
  assert.equal(own.maxFee, gasPrice ?? maxFeePerGas);
  assert.equal(own.maxPriorityFee, gasPrice ?? maxPriorityFeePerGas);
  const list = own.accessList.map(({address: at, slots}) => [at, slots]);
  assert.deepEqual(list, "accessList" in library ? library.accessList : []);
  const {blobVersionedHashes = [], maxFeePerBlobGas = 0n} = library as Partial<Blob4844Tx>;
  assert.deepEqual(own.blobHashes.map(toHex), blobVersionedHashes);
  assert.equal(own.maxBlobFee, maxFeePerBlobGas);
  const {authorizationList} = library as Partial<EOACode7702Tx>;
  const authorizations = own.authorizations?.map(({chainId, address: to, nonce, yParity, r, s}) => [
    ...[number(chainId), to, number(nonce), number(yParity), number(r), number(s)],
  ]);
  assert.deepEqual(authorizations, authorizationList);
}

function signerOf(transaction: TypedTransaction): string {
  try {
    return `${transaction.getSenderAddress()}`;
  } catch {
    return "nobody";
  }
}

function number(value: bigint): Uint8Array {
  const hex = value.toString(16);
  return value === 0n
    ? new Uint8Array(0)
    : new Uint8Array(Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex"));
}
