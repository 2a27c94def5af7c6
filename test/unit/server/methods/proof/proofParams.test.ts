import assert from "node:assert/strict";
import {test} from "node:test";
import {ParamList} from "../../../../../server/methods/params.ts";
import {PROOF_PARAMS, packProofCall, proofCost} from "../../../../../server/methods/proof/getProof.ts";
import type {BlockView} from "../../../../../server/methods/selector.ts";
import {RpcCode, RpcError} from "../../../../../server/rpc/rpcError.ts";
import {PrunedBlocks} from "../../../../../storage/prune/prunedBlocks.ts";
import {ProofForm, packedBytes} from "../../../../../workers/messages/packedCall.ts";

const VIEW: BlockView = {
  head: {earliest: 0, finalized: 2 ** 40, latest: 2 ** 40},
  chain: {pruned: new PrunedBlocks(), findBlock: () => undefined},
};
const ADDRESS = `0x${"Ab".repeat(20)}`;
const MAX_KEYS = 3;
const PARAMS = new ParamList(PROOF_PARAMS);

function refusal(params: readonly unknown[]): RpcError {
  try {
    packProofCall(
      PARAMS.read({name: "prove"}, params),
      ProofForm.PLAIN,
      VIEW,
      MAX_KEYS,
      Buffer.alloc(1000),
      0,
    );
  } catch (error) {
    assert.ok(error instanceof RpcError);
    return error;
  }
  return assert.fail(`${JSON.stringify(params)} was accepted`);
}

test("a call is packed as block u48, address, key count u16, form u8, keys of 32 bytes", () => {
  const params = [ADDRESS, ["0x1", `0x${"Cd".repeat(32)}`], "latest"];
  for (const [form, digits] of [
    [ProofForm.PLAIN, "00"],
    [ProofForm.WITH_BLOCK, "01"],
  ] as const) {
    const packed = Buffer.alloc(5 + packedBytes(2), 0xee);
    const end = packProofCall(params, form, VIEW, MAX_KEYS, packed, 5);
    assert.equal(end, packed.length);
    const keys = `${"1".padStart(64, "0")}${"cd".repeat(32)}`;
    assert.equal(packed.toString("hex", 5), `010000000000${"ab".repeat(20)}0002${digits}${keys}`);
    assert.equal(packed.toString("hex", 0, 5), "ee".repeat(5));
  }
});

test("a call costs one and one for each key, and nothing where it will be refused", () => {
  assert.equal(proofCost([ADDRESS, [], "latest"], MAX_KEYS), 1);
  assert.equal(proofCost([ADDRESS, ["0x1", "0x1", "0x1"], "latest"], MAX_KEYS), 4);
  assert.equal(proofCost([ADDRESS, ["0x1", "0x1", "0x1", "0x1"], "latest"], MAX_KEYS), 0);
  assert.equal(proofCost([ADDRESS], MAX_KEYS), 0);
  assert.equal(proofCost({address: ADDRESS}, MAX_KEYS), 0);
});

test("wrong parameters are named with what came and what is expected", () => {
  const table: [readonly unknown[], RegExp][] = [
    [[], /params\[0\] \(address\): expected a value for all of \[address, storageKeys, block\], got nothing/],
    [[ADDRESS], /params\[1\] \(storageKeys\): expected .*, got nothing/],
    [[ADDRESS, []], /params\[2\] \(block\): expected .*, got nothing/],
    [[ADDRESS, [], null], /params\[2\] \(block\): expected .*, got null/],
    [[ADDRESS, [], "latest", 1], /params: expected .*, got 4 elements/],
    [["0x12", [], "latest"], /params\[0\] \(address\): expected 20 bytes.*, got "0x12"/],
    [[5, [], "latest"], /params\[0\] \(address\): expected .*, got 5/],
    [[`0x${"zz".repeat(20)}`, [], "latest"], /params\[0\]/],
    [[ADDRESS.slice(2), [], "latest"], /params\[0\]/],
    [[ADDRESS, "0x1", "latest"], /params\[1\] \(storageKeys\): expected an array.*, got "0x1"/],
    [[ADDRESS, {}, "latest"], /expected an array.*, got an object/],
    [
      [ADDRESS, ["0x1", "0x"], "latest"],
      /params\[1\]\[1\] \(storage key\): expected 0x and 1 to 64.*, got "0x"/,
    ],
    [[ADDRESS, [`0x${"1".repeat(65)}`], "latest"], /params\[1\]\[0\] .*: expected .* \(67 characters\)/],
    [[ADDRESS, [1], "latest"], /params\[1\]\[0\] \(storage key\): expected .*, got 1/],
    [[ADDRESS, [null], "latest"], /params\[1\]\[0\] \(storage key\): expected .*, got null/],
  ];
  for (const [params, message] of table) {
    const error = refusal(params);
    assert.equal(error.code, RpcCode.INVALID_PARAMS, String(message));
    assert.match(error.message, message);
  }
});

test("more keys than allowed is a limit with its numbers", () => {
  const error = refusal([ADDRESS, ["0x1", "0x2", "0x3", "0x4"], "latest"]);
  assert.equal(error.code, RpcCode.LIMIT_EXCEEDED);
  assert.deepEqual(error.data, {limit: MAX_KEYS, got: 4});
});
