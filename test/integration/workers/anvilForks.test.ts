/** Gas limits against a real node, under the rules of older hard forks. */
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {FORKS, forkCases, olderForkCases} from "../../support/gas/cases/forkCases.ts";
import {createGasChain} from "../../support/gas/gasChain.ts";
import {GasComparison} from "../../support/gas/gasComparison.ts";
import {notRun} from "../../support/processes/notRun.ts";

for (const fork of FORKS)
  test(`gas limits under ${fork} are a real node's`, async t => {
    const folder = await mkdtemp(join(tmpdir(), "proofd-anvil-"));
    t.after(() => rm(folder, {recursive: true}));
    const chain = await createGasChain(folder, fork);
    if (typeof chain === "string") {
      t.diagnostic(`NOT CHECKED against a real node: ${chain}`);
      notRun(t, chain);
      return;
    }
    const comparison = await GasComparison.start(chain, {hardfork: fork});
    try {
      for (const one of forkCases(fork)) await t.test(one.title, () => comparison.compare(one));
      for (const one of olderForkCases(fork))
        await t.test(`${one.title} is not there yet`, () => comparison.refuse(one));
    } finally {
      await comparison.stop();
    }
  });
