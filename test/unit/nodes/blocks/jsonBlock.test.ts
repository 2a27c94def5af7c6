import assert from "node:assert/strict";
import {test} from "node:test";
import {createBlock} from "@ethereumjs/block";
import {createBlob4844Tx} from "@ethereumjs/tx";
import {ForkSchedule} from "../../../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../../../evm/execution/forks.ts";
import {encodeJsonBlock} from "../../../../nodes/blocks/jsonBlock.ts";
import {toHex} from "../../../../storage/hex.ts";
import {createFullRules} from "../../../support/evm/fullRules.ts";
import {readDemoBlocks} from "../../../support/nodes/demoNode.ts";
import {describeBlock} from "../../../support/nodes/jsonBlocks.ts";

const FORKS = new ForkSchedule({...configOfFork("osaka"), chainId: 424_242});

test("a blob transaction is encoded as it stands in a block, without its blobs", () => {
  const common = createFullRules(FORKS);
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
  assert.equal(toHex(encodeJsonBlock(describeBlock(block), 9)), toHex(block.serialize()));
});

test("what is no block, or lacks a field, is refused by name", async () => {
  const blocks = await readDemoBlocks();
  const good = describeBlock(blocks[40] as (typeof blocks)[number]);
  const refuse = (json: unknown, reason: RegExp): void =>
    assert.throws(() => encodeJsonBlock(json, 40), {name: "NodeFailure", message: reason});
  for (const json of [undefined, "0x", 7, []]) refuse(json, /^block 40: expected an object, got /);
  refuse({...good, number: "0x1"}, /^expected block 40, got block 1$/);
  refuse({...good, stateRoot: undefined}, /^block 40: stateRoot: expected 32 bytes.*, got nothing/);
  refuse({...good, gasUsed: "21000"}, /^block 40: gasUsed: expected a quantity.*, got "21000"/);
  refuse({...good, gasUsed: 21_000.5}, /^block 40: gasUsed: expected a quantity.*, got 21000\.5/);
  refuse({...good, miner: "0x123"}, /^block 40: miner: expected 20 bytes.*, got "0x123"/);
  refuse({...good, gasLimit: `0x1${"0".repeat(64)}`}, /^block 40: gasLimit: expected a quantity/);
  for (const gasUsed of ["0x1", 1])
    refuse({...good, gasUsed}, /the node says that its hash is 0x[0-9a-f]{64}, but/);
  refuse({...good, uncles: ["0x"]}, /^block 40: it has uncles, which only debug_getRawBlock gives$/);
  refuse({...good, transactions: "0x"}, /^block 40: transactions: expected an array, got "0x"$/);
  refuse(
    {...good, transactions: ["0x1234"]},
    /^block 40: transactions\[0\]: expected an object, got "0x1234"$/,
  );
  refuse({...good, transactions: [{type: "0x7e"}]}, /^block 40: transactions\[0\] cannot be read: /);
  refuse({...good, withdrawals: {}}, /^block 40: withdrawals: expected an array, got an object$/);
  refuse(
    {...good, withdrawals: [{index: "0x0"}]},
    /withdrawals\[0\]\.validatorIndex: expected .*, got nothing/,
  );
});
