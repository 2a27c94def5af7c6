/** Aligned Markdown tables, which documents can quote as they are. */

/** @param rows - missing cells are empty. @param texts - columns of text, at the left. Others are aligned right */
export function writeTable(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  texts: number,
): string {
  const widths = names.map((name, i) => Math.max(name.length, ...rows.map(row => (row[i] ?? "").length)));
  const writeRow = (cells: readonly string[]): string => {
    const padded = widths.map((width, i) => {
      const cell = cells[i] ?? "";
      return i < texts ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(" | ")} |\n`;
  };
  const rules = widths.map((width, i) => (i < texts ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`));
  return `${writeRow(names)}|${rules.join("|")}|\n${rows.map(writeRow).join("")}`;
}

/** Three significant digits: 0.0123, 1.23, 12.3, 123, 12 300. */
export function writeNumber(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "-";
  const rounded = Number(value.toPrecision(3));
  return Math.abs(rounded) < 1000
    ? String(rounded)
    : Math.round(rounded).toLocaleString("en").replaceAll(",", " ");
}
