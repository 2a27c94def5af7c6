/** Tables in Markdown, aligned, so that a document can quote them as they are printed. */

/** A table whose rows are printed one by one, so its widths are given. A wider cell moves the rest of its row. */
export class Table {
  /** @param texts - number of text columns, from the left; the other columns are numbers, aligned right */
  constructor(
    private readonly widths: readonly number[],
    private readonly texts: number,
  ) {}

  writeHeading(names: readonly string[]): string {
    const rules = this.widths.map((width, i) =>
      i < this.texts ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`,
    );
    return `${this.writeRow(names)}|${rules.join("|")}|\n`;
  }

  /** @param cells - missing cells are left empty */
  writeRow(cells: readonly string[]): string {
    const padded = this.widths.map((width, i) => {
      const cell = cells[i] ?? "";
      return i < this.texts ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(" | ")} |\n`;
  }
}

/** A table with all its rows. Columns are as wide as their cells need. */
export function writeTable(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  texts: number,
): string {
  const widths = names.map((name, i) => Math.max(name.length, ...rows.map(row => (row[i] ?? "").length)));
  const table = new Table(widths, texts);
  return `${table.writeHeading(names)}${rows.map(row => table.writeRow(row)).join("")}`;
}

/** Three significant digits, with thousands separated: 0.0123, 1.23, 12.3, 123, 12 300. */
export function writeNumber(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "-";
  const rounded = Number(value.toPrecision(3));
  return Math.abs(rounded) < 1000
    ? String(rounded)
    : Math.round(rounded).toLocaleString("en").replaceAll(",", " ");
}
