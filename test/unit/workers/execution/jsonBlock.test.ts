import assert from "node:assert/strict";
import {test} from "node:test";
import {createBlock} from "@ethereumjs/block";
import {createBlob4844Tx} from "@ethereumjs/tx";
import {toHex} from "../../../../storage/hex.ts";
import {ForkSchedule} from "../../../../workers/execution/forkSchedule.ts";
import {configOfFork} from "../../../../workers/execution/forks.ts";
import {encodeJsonBlock} from "../../../../workers/execution/jsonBlock.ts";
import {readDemoBlocks} from "../../../support/nodes/demoNode.ts";
import {describeBlock} from "../../../support/nodes/jsonBlocks.ts";

const FORKS = new ForkSchedule({...configOfFork("osaka"), chainId: 424_242});

test("every block of the demo chain is encoded as it was: types 0, 1, 2 and 4, access lists, withdrawals", async () => {
  const types = new Set<number>();
  for (const block of await readDemoBlocks()) {
    for (const {type} of block.transactions) types.add(type);
    assert.equal(toHex(encodeJsonBlock(describeBlock(block), FORKS)), toHex(block.serialize()));
  }
  assert.deepEqual([...types].toSorted(), [0, 1, 2, 4]);
});

test("a blob transaction is encoded as it stands in a block, without its blobs", () => {
  const common = FORKS.createCommon();
  common.setHardfork("osaka");
  const transaction = createBlob4844Tx(
    {
      chainId: 424_242n,
      to: `0x${"ab".repeat(20)}`,
      gasLimit: 50_000n,
      maxFeePerGas: 10n ** 9n,
      maxFeePerBlobGas: 7n,
      blobVersionedHashes: [`0x01${"cd".repeat(31)}`],
    },
    {common},
  ).sign(new Uint8Array(32).fill(7));
  const header = {number: 9, timestamp: 1_735_689_700, gasLimit: 30_000_000n, baseFeePerGas: 7n};
  const block = createBlock(
    {header, transactions: [transaction], withdrawals: []},
    {common, skipConsensusFormatValidation: true},
  );
  assert.equal(toHex(encodeJsonBlock(describeBlock(block), FORKS)), toHex(block.serialize()));
});

test("what is no block, or lacks a field, is refused by name", async () => {
  const blocks = await readDemoBlocks();
  const good = describeBlock(blocks[40] as (typeof blocks)[number]);
  const refuse = (json: unknown, reason: RegExp): void =>
    assert.throws(() => encodeJsonBlock(json, FORKS), {code: "BLOCK_INVALID", message: reason});
  for (const json of [undefined, "0x", 7, []]) refuse(json, /a block cannot be read/);
  refuse({...good, stateRoot: undefined}, /block 40 cannot be read: its stateRoot is missing/);
  refuse({...good, gasUsed: 21_000}, /its gasUsed is not a quantity/);
  refuse({...good, miner: "0x123"}, /its miner must be hex bytes/);
  refuse({...good, gasLimit: `0x1${"0".repeat(64)}`}, /its gasLimit must be less than 2\^256/);
  refuse({...good, gasUsed: "0x1"}, /its header has the hash 0x[0-9a-f]{64}, the node names 0x/);
  refuse({...good, uncles: ["0x"]}, /it has uncles, which only debug_getRawBlock gives/);
  refuse({...good, transactions: "0x"}, /its transactions are not a list/);
  refuse({...good, transactions: ["0x1234"]}, /its transactions\[0\]|transactions\[0\] cannot be read/);
  refuse({...good, withdrawals: {}}, /its withdrawals are not a list/);
  refuse({...good, withdrawals: [{index: "0x0"}]}, /withdrawals\[0\]\.validatorIndex is not a quantity/);
});
