/**
 * A run as text: one row for each result and figure, beside those of an earlier run if there is one.
 *
 * A change is marked if it is larger than the errors of both runs together. Tasks that wait for the disk (commits) do not follow
 * the yardstick; for them the time says more.
 */
import {type Origin, writeOrigin} from "../program/machine.ts";
import {Table, writeNumber} from "../program/table.ts";
import type {BenchRun, Figure, Result} from "./benchRun.ts";

const COLUMNS = ["stage", "task", "median us", "p99 us", "error", "per second", "yardsticks"];
const WIDTHS = [10, 46, 16, 9, 7, 10, 10];
const COMPARED_COLUMNS = ["us before", "time", "yardsticks"];
const COMPARED_WIDTHS = [9, 9, 10];

export class RunReport {
  private readonly table: Table;

  /** @param before - the run to compare with */
  constructor(private readonly before: BenchRun | undefined) {
    this.table = new Table(before === undefined ? WIDTHS : [...WIDTHS, ...COMPARED_WIDTHS], 2);
  }

  writeHeading(): string {
    return this.table.writeHeading(this.before === undefined ? COLUMNS : [...COLUMNS, ...COMPARED_COLUMNS]);
  }

  writeResult(result: Result): string {
    const {stage, name, medianUs, p99Us, errorPercent, perSecond, yardsticks} = result;
    const cells = [
      stage,
      name,
      writeNumber(medianUs),
      writeNumber(p99Us),
      `±${errorPercent.toFixed(1)}%`,
      writeNumber(perSecond),
      writeNumber(yardsticks),
    ];
    const before = this.before?.results.find(other => isSame(other, result));
    if (before === undefined) return this.table.writeRow(cells);
    const errors = errorPercent + before.errorPercent;
    return this.table.writeRow([
      ...cells,
      writeNumber(before.medianUs),
      writeChange(before.medianUs, medianUs, errors),
      writeChange(before.yardsticks, yardsticks, errors),
    ]);
  }

  writeFigure(figure: Figure): string {
    const {stage, name, value, unit} = figure;
    const cells = [stage, name, `${writeNumber(value)} ${unit}`];
    const before = this.before?.figures.find(other => isSame(other, figure));
    if (before === undefined) return this.table.writeRow(cells);
    const change = writeChange(before.value, value, Number.POSITIVE_INFINITY);
    return this.table.writeRow([...cells, "", "", "", "", writeNumber(before.value), change]);
  }
}

function isSame(a: Result | Figure, b: Result | Figure): boolean {
  return a.suite === b.suite && a.stage === b.stage && a.name === b.name;
}

/** @param errors - of both runs together, in percent */
function writeChange(before: number, after: number, errors: number): string {
  const percent = 100 * (after / before - 1);
  return `${percent < 0 ? "" : "+"}${percent.toFixed(1)}%${Math.abs(percent) > errors ? "*" : " "}`;
}

export function machineText(machine: Origin): string {
  return `${writeOrigin(machine)}; ${machine.date}\n`;
}
