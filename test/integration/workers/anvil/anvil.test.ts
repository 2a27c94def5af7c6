/**
 * Gas limits against a real node: every call is estimated here and by anvil, on the same state in the same block, and
 * anvil executes it with our limit.
 */
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, type TestContext, test} from "node:test";
import {notRun} from "../../../support/processes/notRun.ts";
import * as cases from "./gasCases.ts";
import {createGasChain, type GasChain} from "./gasChain.ts";
import {GasComparison} from "./gasComparison.ts";
import type {Kit} from "./gasKit.ts";
import {failingCases, revertingCases} from "./refusedCases.ts";

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
      : await GasComparison.start(chain.contracts, chain.estimates, chain.anvil);
});

after(async () => {
  if (comparison instanceof GasComparison) await comparison.stop();
  if (typeof chain !== "string") await chain.estimates.close();
  await rm(folder, {recursive: true});
});

const {transferCases, creationCases, refundCases, forwardingCases} = cases;
const {listCases, floorCases, overrideCases, contextCases} = cases;
checkAll("a transfer's gas limit is a real node's", transferCases, (one, to) => to.compare(one));
checkAll("a creation's gas limit is a real node's", creationCases, (one, to) => to.compare(one));
checkAll("the gas limit holds before the refund is made", refundCases, (one, to) => to.compare(one));
checkAll("calls within calls get the gas that they need", forwardingCases, (one, to) => to.compare(one));
checkAll("the gas of lists is a real node's", listCases, (one, to) => to.compare(one));
checkAll("the floor of calldata is a real node's", floorCases, (one, to) => to.compare(one));
checkAll("overrides change the gas as on a real node", overrideCases, (one, to) => to.compare(one));
checkAll("every try has a real node's block and state", contextCases, (one, to) => to.compare(one));
checkAll("a call that reverts gives a real node's revert data", revertingCases, (one, to) => to.refuse(one));
checkAll("a call that a real node refuses is refused", failingCases, (one, to) => to.refuse(one));

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

function checkAll<Case extends {readonly title: string}>(
  title: string,
  createCases: (kit: Kit) => readonly Case[],
  check: (one: Case, comparison: GasComparison) => Promise<void>,
): void {
  test(title, async t => {
    const ready = comparisonOrSkip(t);
    if (ready === undefined) return;
    for (const one of createCases(ready.kit)) await t.test(one.title, () => check(one, ready));
  });
}

function comparisonOrSkip(t: TestContext): GasComparison | undefined {
  if (typeof comparison !== "string") return comparison;
  t.diagnostic(`NOT CHECKED against a real node: ${comparison}`);
  notRun(t, comparison);
  return undefined;
}
