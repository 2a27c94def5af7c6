/** Random programs on anvil: the differences from its traces, by both methods, against the execution of the same blocks here. */
import assert from "node:assert/strict";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {type TestContext, test} from "node:test";
import fc from "fast-check";
import {toHex} from "../../storage/hex.ts";
import {createTraceReader} from "../../sync/layer2/trace/traceReader.ts";
import {AnvilChain} from "../support/chains/anvilChain.ts";
import {HttpNode} from "../support/chains/httpNode.ts";
import {PEOPLE, type Sent} from "../support/chains/people.ts";
import {PROGRAM_ADDRESSES, randomProgram} from "../support/estimates/randomPrograms.ts";
import {notRun} from "../support/processes/notRun.ts";
import {propertyRuns} from "../support/soak.ts";
import {ComparedStores} from "../support/stores/comparedStores.ts";

const CHAINS_PER_FORK = propertyRuns(1);

const programAt = (position: number): string =>
  `0x${(PROGRAM_ADDRESSES[position] as bigint).toString(16).padStart(40, "0")}`;

const transaction: fc.Arbitrary<Sent> = fc.record({
  from: fc.integer({min: 0, max: PEOPLE.length - 1}),
  to: fc.integer({min: 0, max: PROGRAM_ADDRESSES.length - 1}).map(programAt),
  value: fc.constantFrom(0n, 0n, 1n, 1000n),
  gas: fc.constantFrom(60_000n, 300_000n, 900_000n),
});
const blocks = fc.array(fc.array(transaction, {minLength: 1, maxLength: 6}), {minLength: 2, maxLength: 6});

for (const fork of ["shanghai", "prague"])
  test(`blocks of random programs under ${fork} have the same roots from traces as executed`, async t => {
    const abilities = {istanbul: true, cancun: fork === "prague", addresses: []};
    const programs = fc.tuple(...PROGRAM_ADDRESSES.map(() => randomProgram(abilities)));
    await fc.assert(
      fc.asyncProperty(programs, blocks, async (codes, sent) => {
        await compareChain(t, fork, codes, sent);
      }),
      {numRuns: CHAINS_PER_FORK},
    );
  });

async function compareChain(
  t: TestContext,
  fork: string,
  codes: readonly Uint8Array[],
  blocksSent: readonly (readonly Sent[])[],
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "proofd-traces-"));
  const alloc = Object.fromEntries(
    codes.map((code, position) => [
      programAt(position),
      {code: toHex(code), balance: "0x10", nonce: "0x1", storage: {[`0x${"0".repeat(63)}1`]: "0x07"}},
    ]),
  );
  const chain = await AnvilChain.start(folder, fork, alloc);
  if (typeof chain === "string") {
    t.diagnostic(`NOT CHECKED against a real node: ${chain}`);
    notRun(t, chain);
    return;
  }
  const stores = await ComparedStores.create(folder);
  try {
    await stores.apply(chain.block0, chain.block0);
    const node = new HttpNode(chain.anvil.url);
    const readers = [createTraceReader({method: "stateDiff"}), createTraceReader({method: "prestate"})];
    for (const [position, sent] of blocksSent.entries()) {
      const {executed} = await chain.mine(sent);
      const [fromStateDiff, fromPrestate] = await Promise.all(
        readers.map(async reader => {
          const [block] = await reader.read(node, position + 1, position + 1);
          assert.ok(block);
          return block.difference();
        }),
      );
      assert.ok(fromStateDiff && fromPrestate);
      await stores.apply(executed, position % 2 === 0 ? fromStateDiff : fromPrestate);
    }
  } finally {
    await stores.close();
    await chain.anvil.stop();
    await rm(folder, {recursive: true});
  }
}
