/** Gas limits against a real node, under the rules of older hard forks. One store serves all of them. */
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {FORKS, forkCases, olderForkCases} from "../../support/gas/cases/forkCases.ts";
import {createGasChain, type GasChain, startGasAnvil} from "../../support/gas/gasChain.ts";
import {GasComparison} from "../../support/gas/gasComparison.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {sampleOf} from "../../support/soak.ts";

let folder: string;
/** In words why there is none. */
let chain: GasChain | string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-anvil-"));
  chain = await createGasChain(folder);
  if (typeof chain !== "string") await chain.anvil.stop();
});

after(async () => {
  if (typeof chain !== "string") await chain.estimates.close();
  await rm(folder, {recursive: true});
});

for (const fork of sampleOf(FORKS, 2))
  test(`gas limits under ${fork} are a real node's`, async t => {
    const anvil = typeof chain === "string" ? chain : await startGasAnvil(folder, fork);
    if (typeof chain === "string" || typeof anvil === "string") {
      t.diagnostic(`NOT CHECKED against a real node: ${anvil}`);
      notRun(t, `${anvil}`);
      return;
    }
    const comparison = await GasComparison.start(chain.contracts, chain.estimates, anvil, {hardfork: fork});
    try {
      for (const one of forkCases(fork)) await t.test(one.title, () => comparison.compare(one));
      for (const one of olderForkCases(fork))
        await t.test(`${one.title} is not there yet`, () => comparison.refuse(one));
    } finally {
      await comparison.stop();
    }
  });
