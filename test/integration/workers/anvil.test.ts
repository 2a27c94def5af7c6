/**
 * Gas limits against a real node: every call is estimated here and by anvil, on the same state in the same block, and
 * anvil executes it with our limit. One store and one estimate thread serve all hard forks.
 */
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, type TestContext, test} from "node:test";
import {creationCases, creatorCases} from "../../support/gas/cases/creationCases.ts";
import {failingCases} from "../../support/gas/cases/failingCases.ts";
import {floorCases} from "../../support/gas/cases/floorCases.ts";
import {FORKS, forkCases, olderForkCases} from "../../support/gas/cases/forkCases.ts";
import {forwardingCases} from "../../support/gas/cases/forwardingCases.ts";
import {accessListCases, authorizationCases} from "../../support/gas/cases/listCases.ts";
import {opcodeCases, precompileCases} from "../../support/gas/cases/opcodeCases.ts";
import {overrideCases} from "../../support/gas/cases/overrideCases.ts";
import {refundCases} from "../../support/gas/cases/refundCases.ts";
import {revertingCases} from "../../support/gas/cases/revertingCases.ts";
import {tokenCases, transferCases} from "../../support/gas/cases/transferCases.ts";
import {createGasChain, type GasChain, startGasAnvil} from "../../support/gas/gasChain.ts";
import {GasComparison} from "../../support/gas/gasComparison.ts";
import type {FailingCase, GasCase, Kit} from "../../support/gas/gasKit.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {sampleOf} from "../../support/soak.ts";

let folder: string;
let chain: GasChain | string;
/** In words why there is none. */
let comparison: GasComparison | string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-anvil-"));
  chain = await createGasChain(folder);
  comparison =
    typeof chain === "string"
      ? chain
      : await GasComparison.start(chain.contracts, chain.estimates, chain.anvil, {hardfork: undefined});
});

after(async () => {
  if (comparison instanceof GasComparison) await comparison.stop();
  if (typeof chain !== "string") await chain.estimates.close();
  await rm(folder, {recursive: true});
});

test("a transfer's gas limit is a real node's", t => compareAll(t, transferCases));
test("a token call's gas limit is a real node's", t => compareAll(t, tokenCases));
test("a creation's gas limit is a real node's", t => compareAll(t, creationCases));
test("the gas limit of a call that creates is a real node's", t => compareAll(t, creatorCases));
test("the gas limit holds before the refund is made", t => compareAll(t, refundCases));
test("calls within calls get the gas that they need", t => compareAll(t, forwardingCases));
test("an access list's gas is a real node's", t => compareAll(t, accessListCases));
test("the gas of authorizations is a real node's", t => compareAll(t, authorizationCases));
test("the floor of calldata is a real node's", t => compareAll(t, floorCases));
test("overrides change the gas as on a real node", t => compareAll(t, overrideCases));
test("opcodes cost what they cost on a real node", t => compareAll(t, opcodeCases));
test("precompiles cost what they cost on a real node", t =>
  compareAll(t, kit => sampleOf(precompileCases(kit), 5)));
test("a call that reverts gives a real node's revert data", t => refuseAll(t, revertingCases));
test("a call that a real node refuses is refused", t => refuseAll(t, failingCases));

test("the largest differences from anvil's estimates are told", t => {
  const {differences} = comparisonOrSkip(t) ?? {differences: []};
  if (differences.length === 0) return;
  const percent = ({ours, anvils}: {ours: bigint; anvils: bigint}): number =>
    (Number(ours - anvils) / Number(anvils)) * 100;
  const equal = differences.filter(({ours, anvils}) => ours === anvils).length;
  t.diagnostic(`${differences.length} calls compared, ${equal} equal; the others furthest apart:`);
  const sorted = differences.toSorted((a, b) => Math.abs(percent(b)) - Math.abs(percent(a)));
  for (const one of sorted.slice(0, 15))
    t.diagnostic(`${one.title}: ${one.ours}, anvil ${one.anvils} (${percent(one).toFixed(3)} %)`);
});

for (const fork of sampleOf(FORKS, 3))
  test(`gas limits under ${fork} are a real node's`, async t => {
    const anvil = typeof chain === "string" ? chain : await startGasAnvil(folder, fork);
    if (typeof chain === "string" || typeof anvil === "string") return skip(t, `${anvil}`);
    const older = await GasComparison.start(chain.contracts, chain.estimates, anvil, {hardfork: fork});
    try {
      for (const one of forkCases(fork)) await t.test(one.title, () => older.compare(one));
      for (const one of olderForkCases(fork))
        await t.test(`${one.title} is not there yet`, () => older.refuse(one));
    } finally {
      await older.stop();
    }
  });

async function compareAll(t: TestContext, createCases: (kit: Kit) => readonly GasCase[]): Promise<void> {
  const ready = comparisonOrSkip(t);
  if (ready === undefined) return;
  for (const one of createCases(ready.kit)) await t.test(one.title, () => ready.compare(one));
}

async function refuseAll(t: TestContext, createCases: (kit: Kit) => readonly FailingCase[]): Promise<void> {
  const ready = comparisonOrSkip(t);
  if (ready === undefined) return;
  for (const one of createCases(ready.kit)) await t.test(one.title, () => ready.refuse(one));
}

function comparisonOrSkip(t: TestContext): GasComparison | undefined {
  if (typeof comparison !== "string") return comparison;
  skip(t, comparison);
  return undefined;
}

function skip(t: TestContext, reason: string): void {
  t.diagnostic(`NOT CHECKED against a real node: ${reason}`);
  notRun(t, reason);
}
