/** Random programs on a geth from shanghai to osaka, read by its traces: each block must give the state root of its header. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {quantity} from "../../client/bytes/hex.ts";
import {EngineChain} from "../support/chains/engineChain.ts";
import {type RandomTraffic, randomTraffic} from "../support/chains/randomTraffic.ts";
import {propertyRuns} from "../support/soak.ts";
import {importHere} from "../support/stores/importedStore.ts";

const BLOCKS = 40;
/** Of a transaction that runs no code. */
const PAYMENT_GAS = 21_000;
/** A contract can be destroyed after the transaction that made it in the blocks before. */
const FORKS = {cancun: BLOCKS / 2, prague: BLOCKS / 2 + 1, osaka: BLOCKS / 2 + 2};

interface Block {
  readonly gasUsed: string;
}

test("blocks of random programs are read by traces", () =>
  fc.assert(
    fc.asyncProperty(randomTraffic("shanghai", {minLength: BLOCKS, maxLength: BLOCKS}), readByTraces),
    // Another try takes seconds.
    {numRuns: propertyRuns(1), endOnFailure: true},
  ));

async function readByTraces({alloc, blocks}: RandomTraffic): Promise<void> {
  const chain = await EngineChain.create(FORKS, alloc);
  try {
    const node = await chain.addNode();
    for (const transactions of blocks) await chain.seal({transactions});
    let gas = 0;
    for (let number = 1n; number <= BLOCKS; number++)
      gas += Number((await node.request<Block>("eth_getBlockByNumber", quantity(number), false)).gasUsed);
    assert.ok(gas > PAYMENT_GAS * blocks.flat().length, "programs ran");
    const flags = ["--db", chain.file("db"), "--l2", node.url, "--genesis", chain.genesisPath];
    const outcome = await importHere([...flags, "--source", "trace"]);
    assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
    assert.equal(outcome.head.latest, BLOCKS);
  } finally {
    await chain.stop();
  }
}
