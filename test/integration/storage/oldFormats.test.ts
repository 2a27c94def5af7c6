/** Stores that earlier releases wrote, opened with this one (docs/store.md, Formats). */
import assert from "node:assert/strict";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {SUITE_NAMES, type SuiteName} from "../../../storage/hash/suiteNames.ts";
import {Engine} from "../../../workers/engine.ts";
import type {RandomChain} from "../../support/chains/randomBlocks.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";
import {checkEveryKey, memoisedPoseidon2, memoisedSha256} from "../../support/stores/everyKey.ts";
import {unpackStore} from "../../support/stores/packedStore.ts";

const SUITES = {sha256: memoisedSha256, poseidon2: memoisedPoseidon2};

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-formats-"));
});

after(() => rm(folder, {recursive: true}));

/** All that the packed stores' blocks name, and a key that they do not. */
function chainOf(lines: RandomChain["lines"]): RandomChain {
  const changes = lines.flatMap(({accounts}) => Object.values(accounts));
  const slots = changes.flatMap(change => Object.keys(change?.storage ?? {}).map(BigInt));
  const addresses = lines.flatMap(({accounts}) => Object.keys(accounts));
  return {lines, addresses: [...new Set(addresses), `0x${"7f".repeat(20)}`], slots: [...new Set(slots), 77n]};
}

async function openEngine(directory: string, suite: SuiteName): Promise<Engine> {
  return await Engine.open({directory, suite, workers: 1, cacheBytes: 1 << 20, createIfMissing: false});
}

for (const suite of SUITE_NAMES)
  test(`${suite}: a store of format 4 proves what its blocks say`, async () => {
    const directory = join(folder, suite);
    const lines = await unpackStore(4, suite, directory);
    const engine = await openEngine(directory, suite);
    try {
      const state = new ReferenceState(SUITES[suite], lines);
      assert.ok((await checkEveryKey(engine, state, chainOf(lines))) > 0);
      assert.equal(engine.chain.head().finalized, 1);
    } finally {
      await engine.close();
    }
  });
