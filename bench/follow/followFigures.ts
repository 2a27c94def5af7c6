/** What was measured while a chain was followed, as figures of a run. */
import type {StageFigure} from "../stages/benchRun.ts";
import type {CatchUp} from "./catchUp.ts";

/** @param times - at least one, in milliseconds. @param unitMs - length of the unit */
export function summarizeTimes(
  name: string,
  times: readonly number[],
  unitMs: number,
  unit: string,
): StageFigure[] {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (fraction: number): number => (sorted[Math.floor(fraction * sorted.length)] as number) / unitMs;
  return [
    {name: `${name}, median`, value: at(0.5), unit},
    {name: `${name}, p99`, value: at(0.99), unit},
  ];
}

/** @param transactions - of a block */
export function summarizeCatchUp(
  source: string,
  {blocksPerSecond, ownMs, nodeMs}: CatchUp,
  transactions: number,
): StageFigure[] {
  return [
    {name: `${source}: catching up`, value: blocksPerSecond, unit: "blocks/s"},
    {
      name: `${source}: transactions, ${transactions} a block`,
      value: blocksPerSecond * transactions,
      unit: "per second",
    },
    {name: `${source}: CPU of proofd`, value: ownMs, unit: "ms a block"},
    {name: `${source}: CPU of the node`, value: nodeMs, unit: "ms a block"},
    {
      name: `${source}: the node's part of the CPU`,
      value: (100 * nodeMs) / (ownMs + nodeMs),
      unit: "percent",
    },
  ];
}
