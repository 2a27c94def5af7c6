/** The report as text for a terminal. */
import type {LoadReport} from "./loadReport.ts";
import {describeReport} from "./reportContent.ts";

const LABEL_WIDTH = 12;
const CELL_WIDTH = 11;

export function writeTextReport(report: LoadReport): string {
  const {intro, tables, facts} = describeReport(report);
  const lines = [
    ...intro,
    ...tables.flatMap(({head, rows}) => ["", ...[head, ...rows].map(writeCells)]),
    "",
    ...facts.flatMap(([label = "", ...texts]) =>
      texts.map((text, i) => `${(i === 0 ? label : "").padEnd(LABEL_WIDTH)}  ${text}`.trimEnd()),
    ),
    ...report.warnings.map(warning => `WARNING: ${warning}`),
    ...report.notes.map(note => `note: ${note}`),
    ...(report.failures.length === 0 ? ["passed"] : report.failures.map(failure => `FAILED: ${failure}`)),
  ];
  return `${lines.join("\n")}\n`;
}

function writeCells([label = "", ...cells]: readonly string[]): string {
  return `${label.padEnd(LABEL_WIDTH)}${cells.map(cell => cell.padStart(CELL_WIDTH)).join("")}`.trimEnd();
}
