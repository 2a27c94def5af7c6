import assert from "node:assert/strict";
import {test} from "node:test";
import {ParamList} from "../../../../../server/methods/params.ts";
import {getEthMultiProof, TARGETS} from "../../../../../server/methods/proof/getEthMultiProof.ts";
import {
  type EntryShape,
  MULTI_PROOF_PARAMS,
  multiProofCost,
  packMultiProofCall,
} from "../../../../../server/methods/proof/getMultiProof.ts";
import {RpcCode, RpcError} from "../../../../../server/rpc/rpcError.ts";
import {PrunedBlocks} from "../../../../../storage/prune/prunedBlocks.ts";
import {MAX_MULTI_KEYS, ProofForm, packedBytes} from "../../../../../workers/messages/packedCall.ts";

const VIEW = {
  head: {earliest: 0, finalized: 2 ** 40, latest: 2 ** 40},
  chain: {pruned: new PrunedBlocks(), findBlock: () => undefined},
};
const ADDRESS = `0x${"Ab".repeat(20)}`;
const PARAMS = new ParamList(MULTI_PROOF_PARAMS);

function entry(...storageKeys: readonly unknown[]): unknown {
  return {address: ADDRESS, storageKeys};
}

function numbers(count: number): number[] {
  return Array.from({length: count}, (_, at) => at);
}

function refusal(params: readonly unknown[], list = PARAMS, shape?: EntryShape): RpcError {
  try {
    packMultiProofCall(
      list.read({name: "prove"}, params),
      ProofForm.MULTI_HEX,
      VIEW,
      Buffer.alloc(1000),
      0,
      shape,
    );
  } catch (error) {
    assert.ok(error instanceof RpcError);
    return error;
  }
  return assert.fail(`${JSON.stringify(params)} was accepted`);
}

test("entries are packed one after the other, the first with the call's form", () => {
  const params = [[entry("0x1"), entry(), entry(`0x${"Cd".repeat(32)}`)], "latest"];
  const packed = Buffer.alloc(5 + 2 * packedBytes(1) + packedBytes(0), 0xee);
  const end = packMultiProofCall(params, ProofForm.MULTI_BYTES, VIEW, packed, 5);
  assert.equal(end, packed.length);
  const head = `010000000000${"ab".repeat(20)}`;
  const entries = [
    `${head}000183${"1".padStart(64, "0")}`,
    `${head}000005`,
    `${head}000105${"cd".repeat(32)}`,
  ];
  assert.equal(packed.toString("hex", 5), entries.join(""));
});

test("a call fits into the memory that its cost reserves, however its cost is divided", () => {
  for (const keyCounts of [[4], [0], [0, 0, 0], [4, 0, 0], [1, 2, 1]]) {
    const entries = keyCounts.map(count => entry(...Array.from({length: count}, () => "0x1")));
    const cost = multiProofCost([entries, "latest"]);
    const packed = Buffer.alloc(1000);
    const end = packMultiProofCall([entries, "latest"], ProofForm.MULTI_HEX, VIEW, packed, 0);
    assert.ok(end <= packedBytes(cost), `${end} bytes`);
  }
});

test("a call costs one for each entry and one for each key, and nothing where it will be refused", () => {
  assert.equal(multiProofCost([[entry()], "latest"]), 1);
  assert.equal(multiProofCost([[entry("0x1", "0x1"), entry("0x1"), entry()], "latest"]), 6);
  assert.equal(multiProofCost([[entry(...numbers(MAX_MULTI_KEYS - 1))]]), MAX_MULTI_KEYS);
  const accounts = numbers(MAX_MULTI_KEYS + 1).map(() => entry());
  const keys = [entry(), entry(...numbers(MAX_MULTI_KEYS - 1))];
  for (const params of [[], [[]], [accounts], [keys], [[ADDRESS]], [[{address: ADDRESS}]], [5]])
    assert.equal(multiProofCost(params), 0);
  assert.equal(multiProofCost({entries: []}), 0);
});

test("wrong parameters are named with what came and what is expected", () => {
  const table: [readonly unknown[], RegExp][] = [
    [
      [],
      /params\[0\] \(entries\): expected a value for the first 2 of \[entries, block, suite\], got nothing/,
    ],
    [[[entry()]], /params\[1\] \(block\): expected .*, got nothing/],
    [[[entry()], null], /params\[1\] \(block\): expected .*, got null/],
    [[[entry()], "newest"], /params\[1\] \(block\): expected a 0x block number.*, got "newest"/],
    [[[entry()], "latest", "keccak", 1], /params: expected .*, got 4 elements/],
    [[[], "latest"], /params\[0\] \(entries\): expected an array of one or more .*, got an array of 0/],
    [[{}, "latest"], /params\[0\] \(entries\): expected an array of.*, got an object/],
    [[[ADDRESS], "latest"], /params\[0\]\[0\]: expected \{address, storageKeys\}, got "0xAb.*/],
    [[[entry(), null], "latest"], /params\[0\]\[1\]: expected \{address, storageKeys\}, got null/],
    [[[entry(), [ADDRESS]], "latest"], /params\[0\]\[1\]: expected.*, got an array of 1/],
    [[[{address: ADDRESS}], "latest"], /params\[0\]\[0\]\.storageKeys: expected an array.*, got nothing/],
    [
      [[{address: ADDRESS, storageKeys: "0x1"}], "latest"],
      /params\[0\]\[0\]\.storageKeys: expected an array .*, got "0x1"/,
    ],
    [
      [[{address: ADDRESS, storageKeys: [], slots: []}], "latest"],
      /params\[0\]\[0\]: expected only address and storageKeys, got "slots"/,
    ],
    [[[entry(), {storageKeys: []}], "latest"], /params\[0\]\[1\]\.address: expected 20 bytes.*, got nothing/],
    [
      [[{address: "0x12", storageKeys: []}], "latest"],
      /params\[0\]\[0\]\.address: expected 20 bytes.*, got "0x12"/,
    ],
    [
      [[entry(), entry("0x1", "0x")], "latest"],
      /params\[0\]\[1\]\.storageKeys\[1\]: expected 0x and.*, got "0x"/,
    ],
  ];
  for (const [params, message] of table) {
    const error = refusal(params);
    assert.equal(error.code, RpcCode.INVALID_PARAMS, String(message));
    assert.match(error.message, message);
  }
});

test("wrong targets of eth_getMultiProof are named by their position", () => {
  const table: [targets: unknown, message: RegExp][] = [
    [
      undefined,
      /^params\[0\] \(targets\): expected an array of one or more \[address, storageKeys\], got nothing$/,
    ],
    [[], /^params\[0\] \(targets\): expected an array of one or more .*, got an array of 0$/],
    [{[ADDRESS]: []}, /^params\[0\] \(targets\): expected .*, got an object$/],
    [[ADDRESS, []], /^params\[0\]\[0\]: expected \[address, storageKeys\], got "0xAb.*$/],
    [[[ADDRESS, []], null], /^params\[0\]\[1\]: expected \[address, storageKeys\], got null$/],
    [[entry()], /^params\[0\]\[0\]: expected \[address, storageKeys\], got an object$/],
    [[{0: ADDRESS, 1: [], length: 2}], /^params\[0\]\[0\]: expected .*, got an object$/],
    [[[ADDRESS]], /^params\[0\]\[0\]: expected .*, got an array of 1$/],
    [[[ADDRESS, [], "latest"]], /^params\[0\]\[0\]: expected .*, got an array of 3$/],
    [[[ADDRESS, "0x1"]], /^params\[0\]\[0\]\[1\]: expected an array of storage keys .*, got "0x1"$/],
    [
      [
        [ADDRESS, []],
        [[], ADDRESS],
      ],
      /^params\[0\]\[1\]\[1\]: expected an array of storage keys/,
    ],
    [[["0x12", []]], /^params\[0\]\[0\]\[0\]: expected 20 bytes.*, got "0x12"$/],
    [[[ADDRESS, ["0x1", "0x"]]], /^params\[0\]\[0\]\[1\]\[1\]: expected 0x and 1 to 64.*, got "0x"$/],
    [[[ADDRESS, [`0x${"1".repeat(66)}`]]], /^params\[0\]\[0\]\[1\]\[0\]: expected 0x and .*, got "0x1+".*$/],
  ];
  for (const [targets, message] of table) {
    const error = refusal([targets, "latest"], getEthMultiProof.params, TARGETS);
    assert.equal(error.code, RpcCode.INVALID_PARAMS, String(message));
    assert.match(error.message, message);
  }
  const none = refusal([], getEthMultiProof.params, TARGETS);
  assert.match(
    none.message,
    /^params\[0\] \(targets\): expected a value for the first of \[targets, block\]/,
  );
});

test("more accounts and keys than allowed is a limit with its numbers", () => {
  const got = MAX_MULTI_KEYS + 1;
  const keys = numbers(got - 2).map(at => `0x${at.toString(16)}`);
  for (const [entries, name, shape] of [
    [numbers(got).map(() => entry()), "entries", undefined],
    [[entry(), entry(...keys)], "entries", undefined],
    [numbers(got).map(() => [ADDRESS, []]), "targets", TARGETS],
    [
      [
        [ADDRESS, []],
        [ADDRESS, keys],
      ],
      "targets",
      TARGETS,
    ],
  ] as const) {
    const {code, message, data} = refusal([entries, "latest"], PARAMS, shape);
    assert.equal(code, RpcCode.LIMIT_EXCEEDED);
    const counts = `expected at most ${MAX_MULTI_KEYS} accounts and storage keys, got ${got}`;
    assert.equal(message, `params[0] (${name}): ${counts}`);
    assert.deepEqual(data, {limit: MAX_MULTI_KEYS, got});
    assert.equal(multiProofCost([entries], shape), 0);
  }
});
