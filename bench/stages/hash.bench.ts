/**
 * The suite's hashes as proofs and blocks need them: of two nodes, one pair at a time and in batches; of keys; of values.
 */
import {createHash} from "node:crypto";
import {ACCOUNT_VALUE_BYTES, WORD_BYTES} from "../../storage/hash/suite.ts";
import {addressAt} from "./benchChain.ts";
import type {BenchStore} from "./benchStore.ts";
import type {BenchTask, Stage} from "./stage.ts";

const HASHES = 256;
/** The batch size of storage/hash/pairBatch.ts. */
const BATCH = 512;

export function createHashStage({store}: BenchStore): Stage {
  const {suite} = store.reader;
  const pairs = new Uint8Array(BATCH * 2 * WORD_BYTES);
  for (let i = 0; i < 2 * BATCH; i++) {
    const node = createHash("sha256").update(`node ${i}`).digest();
    // Every element of four bytes is below the p of poseidon2.
    for (let at = 0; at < WORD_BYTES; at += 4) node[at] = (node[at] as number) & 0x3f;
    pairs.set(node, i * WORD_BYTES);
  }
  const hashes = new Uint8Array(BATCH * WORD_BYTES);
  const address = addressAt(0);
  const slot = pairs.subarray(0, WORD_BYTES);
  const opening = pairs.subarray(0, suite.leafOpeningBytes);
  const value = pairs.subarray(0, ACCOUNT_VALUE_BYTES);
  const repeat = (name: string, hash: () => unknown): BenchTask => ({
    name,
    units: HASHES,
    run: () => {
      for (let i = 0; i < HASHES; i++) hash();
    },
  });
  return {
    tasks: [
      repeat("two nodes, 64 bytes", () => suite.hashPairsInto(pairs, 1, hashes)),
      {
        name: `two nodes, ${BATCH} pairs in a batch`,
        units: BATCH,
        run: () => suite.hashPairsInto(pairs, BATCH, hashes),
      },
      repeat("key of an address, 20 bytes", () => suite.hashAddress(address)),
      repeat("key of a slot, 32 bytes", () => suite.hashSlot(slot)),
      repeat(`leaf opening, ${suite.leafOpeningBytes} bytes`, () => suite.hashNode(opening)),
      repeat(`account's value, ${ACCOUNT_VALUE_BYTES} bytes`, () => suite.hashAccountValue(value)),
    ],
  };
}
