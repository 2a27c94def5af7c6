/**
 * Records the state root of a block of layer 2 in a StateRootOracle on layer 1. Contracts there trust who runs this, so the proofd must be
 * your own: it has executed the block.
 *
 *   node record.js --proofd URL --l1 URL --oracle ADDRESS [--block NUMBER]
 *
 * --l1 is a node whose first account is unlocked, such as anvil, and the oracle's source. It waits until proofd holds the block; without
 * --block it takes the newest one.
 */
import {parseArgs} from "node:util";
import {createProofClient} from "proofd-client";
import {StateRootOracle} from "proofd-contracts";
import {Contract} from "../layer1.js";

const {values: flags} = parseArgs({
  options: {
    proofd: {type: "string"},
    l1: {type: "string"},
    oracle: {type: "string"},
    block: {type: "string"},
  },
});

/** Of a block that proofd does not hold. */
const BLOCK_UNKNOWN = -32001;
/** The HTTP status while it holds no block at all, or is busy. */
const TRY_LATER = 503;

/** Waits until proofd holds the block. */
async function readBlock(block) {
  const client = createProofClient({url: flags.proofd, verify: false});
  for (;;) {
    try {
      return await client.getStateRoot({block});
    } catch (error) {
      if (error.code !== BLOCK_UNKNOWN && error.status !== TRY_LATER) throw error;
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  }
}

async function record() {
  for (const name of ["proofd", "l1", "oracle"])
    if (flags[name] === undefined) throw new Error(`--${name} is missing`);
  const {number, stateRoot} = await readBlock(flags.block === undefined ? "latest" : BigInt(flags.block));
  const oracle = new Contract(flags.l1, flags.oracle, StateRootOracle.abi);
  const {transactionHash} = await oracle.send("record", number, stateRoot);
  console.log(`recorded ${stateRoot} of block ${number}`);
  console.log(`transaction ${transactionHash}`);
}

await record().catch(error => {
  console.error(`${error.name}: ${error.message}`);
  process.exitCode = 1;
});
