/** Single proofs while a block of 5 000 leaf writes is imported every second, compared with none imported. */
import {createHash} from "node:crypto";
import {numberedAddress} from "../load/requests/keys.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import type {Finding, ServiceBench} from "./finding.ts";
import {compareProofs, sleep, warmUp} from "./watch.ts";

const LEAF_WRITES = 5000;
const EVERY_MS = 1000;
const PASSES = 2;

export async function measureImport(bench: ServiceBench): Promise<Finding[]> {
  const server = await bench.startServer(["--diffs", "-"]);
  try {
    await warmUp(server, bench);
    const first = await readNewest(server);
    // Written before the measured time, because writing them takes time.
    const count = PASSES * (bench.durationSeconds + 3);
    const blocks = Array.from({length: count}, (_, i) => writeBlock(first + 1 + i, bench.accounts));
    let given = 0;
    let late = 0;
    let timer: NodeJS.Timeout | undefined;
    const {alone, beside, ratio} = await compareProofs(server, bench, {
      begin: () => {
        timer = setInterval(() => server.write(blocks[given++] ?? ""), EVERY_MS);
      },
      end: async () => {
        clearInterval(timer);
        // The last block may have come just now.
        late += Math.max(0, first + given - 1 - (await readNewest(server)));
        while ((await readNewest(server)) < first + given) await sleep(100);
      },
      passes: PASSES,
    });
    return [
      {figure: "p99 of single proofs without an import", value: alone, unit: "ms"},
      {
        figure: `p99 during an import of a block of ${LEAF_WRITES} leaf writes each second`,
        value: beside,
        unit: "ms",
      },
      {figure: "... ratio", value: ratio, unit: "x"},
      {
        figure: "... blocks not imported when the next one came",
        value: late,
        unit: "",
      },
    ];
  } finally {
    await server.stop();
  }
}

async function readNewest(server: ServerProcess): Promise<number> {
  const {latest} = (await server.call("chain_getCoverage")) as {latest: string};
  return Number(latest);
}

/** The line of a block that changes this many accounts of block 0, one leaf write each. The block is finalized at once. */
function writeBlock(number: number, accounts: number): string {
  const changes: string[] = [];
  const count = Math.min(LEAF_WRITES, accounts);
  // Has no factor in common with any number of accounts of the bench, so no account comes twice.
  for (let i = 0; i < count; i++) {
    const account = (number * 31 + i * 7919) % accounts;
    changes.push(`"0x${numberedAddress(account)}":{"nonce":"0x${number.toString(16)}"}`);
  }
  const hash = createHash("sha256").update(`block ${number}`).digest("hex");
  const quantity = `0x${number.toString(16)}`;
  return `{"number":"${quantity}","hash":"0x${hash}","timestamp":"0x${(1_700_000_000 + number).toString(16)}","gasLimit":"0x3938700","finalized":"${quantity}","accounts":{${changes.join(",")}}}\n`;
}
