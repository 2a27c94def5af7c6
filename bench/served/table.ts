/** Tables in Markdown, aligned, so that a document can quote them as they are printed. */

/** @param rows - the first one names the columns; its cells are texts, the others' are aligned right but for the first */
export function writeTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map(row => (row[i] ?? "").length)));
  const lines = rows.map(
    row =>
      `| ${widths.map((width, i) => (i === 0 ? (row[i] ?? "").padEnd(width) : (row[i] ?? "").padStart(width))).join(" | ")} |`,
  );
  const rule = `|${widths.map((width, i) => (i === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return `${[lines[0], rule, ...lines.slice(1)].join("\n")}\n`;
}

/** Three significant digits, thousands apart: 0.0123, 1.23, 12.3, 123, 12 300. */
export function writeNumber(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "-";
  const rounded = Number(value.toPrecision(3));
  return Math.abs(rounded) < 1000
    ? String(rounded)
    : Math.round(rounded).toLocaleString("en").replaceAll(",", " ");
}
