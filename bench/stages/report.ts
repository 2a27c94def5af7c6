/**
 * Runs and comparisons as text.
 */

import {commitText, type Machine} from "../load/report/machine.ts";
import type {Figure, Result} from "./benchRun.ts";
import type {StoreFigures} from "./benchStore.ts";
import type {Change, Comparison} from "./comparison.ts";

const STAGE_WIDTH = 10;
const NAME_WIDTH = 44;
const CELL_WIDTH = 12;

export const RESULT_HEADING = row("stage", "task", [
  "median us",
  "p99 us",
  "error",
  "per second",
  "yardsticks",
]);

export function resultRow({
  stage,
  name,
  medianUs,
  p99Us,
  errorPercent,
  perSecond,
  yardsticks,
}: Result): string {
  return row(stage, name, [
    short(medianUs),
    short(p99Us),
    `±${errorPercent.toFixed(1)}%`,
    short(perSecond),
    short(yardsticks),
  ]);
}

export function figureRow({stage, name, value, unit}: Figure): string {
  return row(stage, name, [`${short(value)} ${unit}`.trimEnd()]);
}

export function machineText(machine: Machine): string {
  const {cpu, cores, node, date} = machine;
  return `${cpu}, ${cores} cores; Node ${node}; commit ${commitText(machine)}; ${date}\n`;
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
  const lines = notes.map(note => `${note}\n`);
  lines.push(row("stage", "task", ["us before", "us now", "time", "yardsticks"]));
  lines.push(...changes.map(changeRow));
  for (const {before, after} of figureChanges)
    lines.push(
      row(after.stage, after.name, [
        short(before.value),
        short(after.value),
        percent(after.value / before.value - 1),
      ]),
    );
  lines.push("* = a larger change than the errors of both runs together\n");
  return lines.join("");
}

function changeRow({before, after, time, yardsticks, isTimeBeyond, isYardsticksBeyond}: Change): string {
  return row(after.stage, after.name, [
    short(before.medianUs),
    short(after.medianUs),
    `${percent(time)}${isTimeBeyond ? "*" : " "}`,
    `${percent(yardsticks)}${isYardsticksBeyond ? "*" : " "}`,
  ]);
}

function row(stage: string, name: string, cells: readonly string[]): string {
  const aligned = cells.map(cell => cell.padStart(CELL_WIDTH)).join("");
  return `${stage.padEnd(STAGE_WIDTH)}${name.padEnd(NAME_WIDTH)}${aligned}\n`;
}

/** Three digits or more. */
function short(value: number): string {
  const decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return value.toFixed(decimals);
}

function percent(change: number): string {
  return `${change < 0 ? "" : "+"}${(change * 100).toFixed(1)}%`;
}
