import assert from "node:assert/strict";
import {test} from "node:test";
import type {TransactionTrace} from "../../../../../nodes/blocks/trace/accountTrace.ts";
import {parsePrestateTraces} from "../../../../../nodes/blocks/trace/prestateTrace.ts";
import {parseStateDiffTraces} from "../../../../../nodes/blocks/trace/stateDiffTrace.ts";
import {NodeFailure} from "../../../../../nodes/rpc/node.ts";

const HASH = `0x${"ab".repeat(32)}`;
const ADDRESS = `0x${"cd".repeat(20)}`;
const SLOT = `0x${"0".repeat(63)}1`;
const VALUE = `0x${"0".repeat(62)}2a`;

const prestate = (result: unknown): TransactionTrace[] =>
  parsePrestateTraces([{txHash: HASH, result}], "the trace of block 5");
const stateDiff = (account: unknown): TransactionTrace[] =>
  parseStateDiffTraces([{transactionHash: HASH, stateDiff: {[ADDRESS]: account}}], "the trace of block 5");

/** JSON text of arrays within arrays. */
function nested(levels: number): unknown {
  return JSON.parse("[".repeat(levels) + "]".repeat(levels));
}

test("fields that prestateTracer leaves out are zero before the transaction, and unchanged after it", () => {
  const [trace] = prestate({pre: {[ADDRESS]: {balance: "0x5"}}, post: {[ADDRESS]: {nonce: 1}}});
  assert.equal(trace?.hash, HASH);
  assert.deepEqual(trace?.accounts.get(ADDRESS), {
    before: {nonce: 0n, balance: 5n, code: new Uint8Array(0)},
    after: {nonce: 1n, balance: undefined, code: undefined},
    slots: new Map(),
  });
});

test("an account that is only in pre may be gone, one that is only in post was made, an empty one is absent", () => {
  const other = ADDRESS.replaceAll("cd", "CE");
  const third = ADDRESS.replaceAll("cd", "cf");
  const [trace] = prestate({
    pre: {[ADDRESS]: {nonce: 1}, [third]: {balance: "0x0"}},
    post: {[other]: {nonce: 1}, [third]: {balance: "0x1"}},
  });
  assert.equal(trace?.accounts.get(ADDRESS)?.after, "removed");
  assert.equal(trace?.accounts.get(other.toLowerCase())?.before, "created");
  assert.equal(trace?.accounts.get(third)?.before, "absent");
});

test("a slot that is only in pre is left open", () => {
  const [trace] = prestate({
    pre: {[ADDRESS]: {storage: {"0x1": VALUE, "0x2": VALUE}}},
    post: {[ADDRESS]: {storage: {"0x1": VALUE}}},
  });
  const two = SLOT.replace(/1$/, "2");
  assert.deepEqual(
    [...(trace?.accounts.get(ADDRESS)?.slots ?? [])],
    [
      [SLOT, VALUE],
      [two, undefined],
    ],
  );
});

test("without codes, those that are another one are hidden, and no account with codeHash counts as empty", () => {
  const codeHash = HASH;
  const storage = {"0x1": VALUE};
  const rows: readonly (readonly [pre: object | undefined, post: object, hidesCode: true | undefined])[] = [
    [{nonce: 1, codeHash}, {storage}, undefined],
    [{codeHash}, {balance: "0x1"}, undefined],
    [{nonce: 1}, {nonce: 2, codeHash, storage}, true],
    [{nonce: 1, codeHash}, {nonce: 2, codeHash: SLOT}, true],
    [undefined, {nonce: 1, codeHash}, true],
    [undefined, {nonce: 1}, true],
    [undefined, {nonce: 1, code: "0x00"}, undefined],
    [undefined, {balance: "0x1"}, undefined],
    [{nonce: 1}, {nonce: 2}, undefined],
  ];
  for (const [pre, post, hidesCode] of rows) {
    const result = {pre: pre === undefined ? {} : {[ADDRESS]: pre}, post: {[ADDRESS]: post}};
    const trace = parsePrestateTraces([{result}], "it", true)[0]?.accounts.get(ADDRESS);
    assert.equal(trace?.hidesCode, hidesCode, JSON.stringify(result));
    assert.equal(typeof trace?.before, pre === undefined ? "string" : "object");
  }
});

test("a stateDiff's deltas are read", () => {
  const changed = {
    balance: {"*": {from: "0x1", to: "0x2"}},
    nonce: "=",
    code: "=",
    storage: {[SLOT]: {"*": {from: VALUE, to: SLOT}}, "0x3": {"-": VALUE}, "0x4": "="},
  };
  const three = SLOT.replace(/1$/, "3");
  assert.deepEqual(stateDiff(changed)[0]?.accounts.get(ADDRESS), {
    before: {nonce: undefined, balance: 1n, code: undefined},
    after: {nonce: undefined, balance: 2n, code: undefined},
    slots: new Map([
      [SLOT, SLOT],
      [three, undefined],
    ]),
  });
  const made = {balance: {"+": "0x1"}, nonce: {"+": "0x0"}, code: {"+": "0x"}, storage: {}};
  assert.equal(stateDiff(made)[0]?.accounts.get(ADDRESS)?.before, "absent");
  const contract = {...made, nonce: {"+": "0x1"}, code: {"+": "0x00"}};
  assert.equal(stateDiff(contract)[0]?.accounts.get(ADDRESS)?.before, "created");
  const gone = {balance: {"-": "0x1"}, nonce: {"-": "0x1"}, code: {"-": "0x00"}, storage: {}};
  assert.equal(stateDiff(gone)[0]?.accounts.get(ADDRESS)?.after, "removed");
});

test("null means that nothing is there", () => {
  const nothing = {hash: HASH, accounts: new Map()};
  assert.deepEqual(parseStateDiffTraces([{transactionHash: HASH, stateDiff: null}], "the trace"), [nothing]);
  assert.deepEqual(prestate({pre: null, post: null}), [nothing]);
  assert.deepEqual(
    stateDiff({balance: null, nonce: null, code: null, storage: null}),
    stateDiff({balance: "=", nonce: "=", code: "=", storage: {}}),
  );
  assert.deepEqual(
    prestate({pre: {[ADDRESS]: {balance: "0x1", nonce: null, code: null, storage: null}}, post: null}),
    prestate({pre: {[ADDRESS]: {balance: "0x1"}}, post: {}}),
  );
  const [unnamed] = parseStateDiffTraces([{transactionHash: null, stateDiff: {}}], "the trace");
  assert.equal(unnamed?.hash, undefined);
});

const MALFORMED: readonly (readonly [parse: () => unknown, message: RegExp])[] = [
  [() => parsePrestateTraces({}, "the trace"), /^the trace: expected an array, got an object$/],
  [() => parsePrestateTraces([7], "the trace"), /^the trace, transaction 0: expected an object, got 7$/],
  [() => parsePrestateTraces([{}], "the trace"), /transaction 0: result: expected .*, got nothing/],
  [
    () => parsePrestateTraces([{error: "execution timeout"}], "the trace"),
    /could not trace it: execution timeout/,
  ],
  [() => prestate({pre: {}}), /transaction 0: post: expected an object, got nothing/],
  [() => prestate({gas: 21000, structLogs: []}), /pre: expected .*, got nothing/],
  [() => prestate({pre: {"0x12": {}}, post: {}}), /an address of .*: expected 20 bytes.*, got "0x12"/],
  [() => prestate({pre: {[ADDRESS]: {balance: "0xzz"}}, post: {}}), /balance: expected .*, got "0xzz"/],
  [() => prestate({pre: {[ADDRESS]: {nonce: -1}}, post: {}}), /nonce: expected a quantity.*, got -1/],
  [() => prestate({pre: {[ADDRESS]: {nonce: 1.5}}, post: {}}), /nonce: expected .*, got 1\.5/],
  [
    () => prestate({pre: {[ADDRESS]: {nonce: "0x10000000000000000"}}, post: {}}),
    /nonce: expected a quantity below 2\^64, got /,
  ],
  [
    () => prestate({pre: {[ADDRESS]: {balance: `0x${"f".repeat(1 << 20)}`}}, post: {}}),
    /balance: expected a quantity.*, got "0xf+"?\.\.\."?/,
  ],
  [
    () => prestate({pre: {[ADDRESS]: {code: `0x${"00".repeat((1 << 20) + 1)}`}}, post: {}}),
    /code: expected at most 1048576 bytes/,
  ],
  [() => prestate({pre: {[ADDRESS]: {code: "0x0"}}, post: {}}), /code: expected .*, got "0x0"/],
  [() => prestate({pre: {[ADDRESS]: {storage: []}}, post: {}}), /storage: expected an object, got an array/],
  [
    () => prestate({pre: {[ADDRESS]: {storage: {[`${SLOT}00`]: VALUE}}}, post: {}}),
    /a slot: expected a word/,
  ],
  [() => prestate(nested(10_000)), /result: expected an object, got an array/],
  [() => prestate({pre: {[ADDRESS]: {nonce: nested(10_000)}}, post: {}}), /an array/],
  [() => stateDiff({balance: {"?": "0x1"}}), /balance: expected one of.*, got an object/],
  [() => stateDiff({balance: {"*": {from: "0x1"}}}), /balance: to: expected .*, got nothing/],
  [() => parseStateDiffTraces([{}], "the trace"), /stateDiff: expected an object, got nothing/],
];

test("a malformed trace is refused by name, in a short message", () => {
  for (const [parse, message] of MALFORMED)
    assert.throws(parse, error => {
      assert.ok(error instanceof NodeFailure);
      assert.match(error.message, message);
      assert.ok(error.message.length < 400, `a message of ${error.message.length} characters`);
      return true;
    });
});
