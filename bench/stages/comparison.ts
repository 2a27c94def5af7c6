/**
 * Compares one run with an earlier one: by time, and by time in yardsticks, which takes out the machine's speed.
 *
 * A change counts if it is larger than the errors of both runs together. Tasks that wait for the disk or for other threads
 * (commits, trips) do not follow the yardstick; for them the time says more.
 */

import {commitText} from "../load/report/machine.ts";
import type {BenchRun, Figure, Result} from "./benchRun.ts";

export interface Comparison {
  /** Other differences between the runs. */
  readonly notes: readonly string[];
  /** The tasks that both runs have. */
  readonly changes: readonly Change[];
  readonly figureChanges: readonly FigureChange[];
}

export interface Change {
  readonly before: Result;
  readonly after: Result;
  /** after / before - 1: a positive value is slower. */
  readonly time: number;
  readonly yardsticks: number;
  /** Is the change larger than both errors together? */
  readonly isTimeBeyond: boolean;
  readonly isYardsticksBeyond: boolean;
}

export interface FigureChange {
  readonly before: Figure;
  readonly after: Figure;
}

interface Named {
  readonly suite: string;
  readonly stage: string;
  readonly name: string;
}

export function compareRuns(before: BenchRun, after: BenchRun): Comparison {
  const results = pair(before.results, after.results);
  const notes = describeDifferences(before, after);
  for (const [side, result] of [
    ["only before", results.onlyBefore],
    ["only now", results.onlyAfter],
  ] as const)
    if (result.length > 0) notes.push(`${side}: ${result.map(nameOf).join("; ")}`);
  return {
    notes,
    changes: results.both.map(compareResults),
    figureChanges: pair(before.figures, after.figures).both,
  };
}

function compareResults({before, after}: {before: Result; after: Result}): Change {
  const time = after.medianUs / before.medianUs - 1;
  const yardsticks = after.yardsticks / before.yardsticks - 1;
  const errors = (before.errorPercent + after.errorPercent) / 100;
  return {
    before,
    after,
    time,
    yardsticks,
    isTimeBeyond: Math.abs(time) > errors,
    isYardsticksBeyond: Math.abs(yardsticks) > errors,
  };
}

function describeDifferences(before: BenchRun, after: BenchRun): string[] {
  const differences = [
    ["accounts", before.accounts, after.accounts],
    ["blocks", before.blocks, after.blocks],
    ["milliseconds per task", before.timeMs, after.timeMs],
    ["commit", commitText(before.machine), commitText(after.machine)],
    ["Node", before.machine.node, after.machine.node],
    ["CPU", before.machine.cpu, after.machine.cpu],
    ["cores", before.machine.cores, after.machine.cores],
  ] as const;
  return differences
    .filter(([, was, is]) => was !== is)
    .map(([what, was, is]) => `${what}: ${was} before, ${is} now`);
}

/** Pairs entries with the same suite, stage and name, in the order of `after`. */
function pair<T extends Named>(before: readonly T[], after: readonly T[]) {
  const earlier = new Map(before.map(one => [nameOf(one), one]));
  const both: {before: T; after: T}[] = [];
  const onlyAfter: T[] = [];
  for (const one of after) {
    const match = earlier.get(nameOf(one));
    if (match === undefined) onlyAfter.push(one);
    else both.push({before: match, after: one});
    earlier.delete(nameOf(one));
  }
  return {both, onlyBefore: [...earlier.values()], onlyAfter};
}

function nameOf({suite, stage, name}: Named): string {
  return `${suite} ${stage}: ${name}`;
}
