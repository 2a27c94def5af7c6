/**
 * Formats a run as a table, with the changes since an earlier run if there is one.
 *
 * A change is marked if it exceeds the errors of both runs together. For tasks that wait for the disk (commits),
 * compare times instead of yardsticks.
 */
import {writeNumber, writeTable} from "../program/table.ts";
import type {BenchRun, Figure, Result} from "./benchRun.ts";

const COLUMNS = ["stage", "task", "median us", "p99 us", "error", "per second", "yardsticks"];
const COMPARED_COLUMNS = ["us before", "time", "yardsticks"];

export function writeReport(rows: readonly (Result | Figure)[], before: BenchRun | undefined): string {
  const columns = before === undefined ? COLUMNS : [...COLUMNS, ...COMPARED_COLUMNS];
  const cells = rows.map(row => ("unit" in row ? figureCells(row, before) : resultCells(row, before)));
  return writeTable(columns, cells, 2);
}

function resultCells(result: Result, run: BenchRun | undefined): string[] {
  const {stage, name, medianUs, p99Us, errorPercent, perSecond, yardsticks} = result;
  const error = `±${errorPercent.toFixed(1)}%`;
  const times = [medianUs, p99Us].map(writeNumber);
  const cells = [stage, name, ...times, error, writeNumber(perSecond), writeNumber(yardsticks)];
  const before = findSame(run?.results, result);
  if (before === undefined) return cells;
  const errors = errorPercent + before.errorPercent;
  return [
    ...cells,
    writeNumber(before.medianUs),
    writeChange(before.medianUs, medianUs, errors),
    writeChange(before.yardsticks, yardsticks, errors),
  ];
}

function figureCells(figure: Figure, run: BenchRun | undefined): string[] {
  const {stage, name, value, unit} = figure;
  const cells = [stage, name, `${writeNumber(value)} ${unit}`];
  const before = findSame(run?.figures, figure);
  if (before === undefined) return cells;
  const change = writeChange(before.value, value, Number.POSITIVE_INFINITY);
  return [...cells, "", "", "", "", writeNumber(before.value), change];
}

function findSame<Row extends Result | Figure>(rows: readonly Row[] | undefined, row: Row): Row | undefined {
  const {suite, stage, name} = row;
  return rows?.find(other => other.suite === suite && other.stage === stage && other.name === name);
}

/** @param errors - sum of both runs' errors, in percent */
function writeChange(before: number, after: number, errors: number): string {
  const percent = 100 * (after / before - 1);
  return `${percent < 0 ? "" : "+"}${percent.toFixed(1)}%${Math.abs(percent) > errors ? "*" : " "}`;
}
