/**
 * Runs and comparisons as text.
 */

import {commitText, type Machine, writeMachine} from "../load/report/machine.ts";
import {Table, writeNumber} from "../program/table.ts";
import type {Figure, Result} from "./benchRun.ts";
import type {StoreFigures} from "./benchStore.ts";
import type {Change, Comparison} from "./comparison.ts";

const RESULTS = new Table([8, 44, 16, 9, 7, 10, 10], 2);
const CHANGES = new Table([8, 44, 9, 9, 9, 10], 2);

export const RESULT_HEADING = RESULTS.writeHeading([
  "stage",
  "task",
  "median us",
  "p99 us",
  "error",
  "per second",
  "yardsticks",
]);

export function resultRow(result: Result): string {
  const {stage, name, medianUs, p99Us, errorPercent, perSecond, yardsticks} = result;
  const error = `±${errorPercent.toFixed(1)}%`;
  const [median, p99, rate, hashes] = [medianUs, p99Us, perSecond, yardsticks].map(writeNumber);
  return RESULTS.writeRow([stage, name, median, p99, error, rate, hashes] as string[]);
}

export function figureRow({stage, name, value, unit}: Figure): string {
  return RESULTS.writeRow([stage, name, `${writeNumber(value)} ${unit}`.trimEnd()]);
}

export function machineText(machine: Machine): string {
  return `${writeMachine(machine)}; commit ${commitText(machine)}; ${machine.date}\n`;
}

export function storeText(suite: string, directory: string, made: StoreFigures): string {
  const {machine, block0Seconds, peakRssBytes, blockMs, bytesPerLeafWrite} = made;
  return (
    `suite ${suite}, store ${directory}, made by commit ${commitText(machine)} on ${machine.date.slice(0, 10)}: ` +
    `block 0 ${block0Seconds.toFixed(1)} s, peak RSS ${Math.round(peakRssBytes / 2 ** 20)} MB; ` +
    `then ${blockMs.toFixed(1)} ms a block, ${Math.round(bytesPerLeafWrite)} bytes per leaf write\n`
  );
}

export function comparisonText({notes, changes, figureChanges}: Comparison): string {
  return [
    ...notes.map(note => `${note}\n`),
    CHANGES.writeHeading(["stage", "task", "us before", "us now", "time", "yardsticks"]),
    ...changes.map(changeRow),
    ...figureChanges.map(figureChangeRow),
    "* = a larger change than the errors of both runs together\n",
  ].join("");
}

function changeRow({before, after, time, yardsticks, isTimeBeyond, isYardsticksBeyond}: Change): string {
  return CHANGES.writeRow([
    after.stage,
    after.name,
    writeNumber(before.medianUs),
    writeNumber(after.medianUs),
    `${percent(time)}${isTimeBeyond ? "*" : " "}`,
    `${percent(yardsticks)}${isYardsticksBeyond ? "*" : " "}`,
  ]);
}

function figureChangeRow({before, after}: Comparison["figureChanges"][number]): string {
  const change = percent(after.value / before.value - 1);
  return CHANGES.writeRow([
    after.stage,
    after.name,
    writeNumber(before.value),
    writeNumber(after.value),
    change,
  ]);
}

function percent(change: number): string {
  return `${change < 0 ? "" : "+"}${(change * 100).toFixed(1)}%`;
}
