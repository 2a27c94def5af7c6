/** Single proofs while a block of 5 000 leaf writes is imported every second, compared with none imported. */
import {setTimeout as sleep} from "node:timers/promises";
import {numberedAddress} from "proofd-load";
import {
  compareProofs,
  type Finding,
  readLatest,
  type ServiceBench,
  warmUp,
  withServer,
  writeBlock,
} from "./serviceBench.ts";

const LEAF_WRITES = 5000;
const EVERY_MS = 1000;
const PASSES = 2;

export function measureImport(bench: ServiceBench): Promise<Finding[]> {
  return withServer(bench, ["--allow-unverified", "--diffs", "-"], async server => {
    await warmUp(server, bench);
    const first = (await readLatest(server)) + 1;
    // Written before the measured time, because writing them takes time.
    const count = PASSES * (bench.durationSeconds + 3);
    const blocks = Array.from({length: count}, (_, i) =>
      changeAccounts(first + i, bench.accounts, LEAF_WRITES),
    );
    let given = 0;
    let late = 0;
    const {alone, beside, ratio} = await compareProofs(server, bench, PASSES, async () => {
      const timer = setInterval(() => server.write(blocks[given++] ?? ""), EVERY_MS);
      return async () => {
        clearInterval(timer);
        // The last block may have come just now.
        late += Math.max(0, first + given - 2 - (await readLatest(server)));
        while ((await readLatest(server)) < first + given - 1) await sleep(100);
      };
    });
    return [
      {figure: "p99 of single proofs without an import", value: alone, unit: "ms"},
      {
        figure: `p99 during an import of a block of ${LEAF_WRITES} leaf writes each second`,
        value: beside,
        unit: "ms",
      },
      {figure: "... ratio", value: ratio, unit: "x"},
      {figure: "... blocks not imported when the next one came", value: late, unit: ""},
    ];
  });
}

/** A block that changes this many accounts of block 0, one leaf write each. It is finalized at once. */
export function changeAccounts(number: number, accounts: number, leafWrites: number): string {
  const changes = Array.from({length: Math.min(leafWrites, accounts)}, (_, i) => {
    // Has no factor in common with any number of accounts of the bench, so no account comes twice.
    const account = (number * 31 + i * 7919) % accounts;
    return `"0x${numberedAddress(account)}":{"nonce":"0x${number.toString(16)}"}`;
  });
  return writeBlock(number, true, changes);
}
