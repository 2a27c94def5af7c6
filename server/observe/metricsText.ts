/** Writes metrics in the text format of Prometheus. */
import type {Latencies} from "./latencies.ts";

/** The values of the labels, and the figure. */
export type FigureRow = readonly [...string[], number];

/** @param name - a counter if it ends in _total, else a gauge */
export function writeFigures(
  name: string,
  help: string,
  labels: readonly string[],
  rows: Iterable<FigureRow>,
): string {
  const lines = [writeHead(name, help, name.endsWith("_total") ? "counter" : "gauge")];
  for (const row of rows) {
    const pairs = labels.map((label, at) => writePair(label, row[at] as string));
    lines.push(writeSample(name, pairs, row.at(-1) as number));
  }
  return lines.join("");
}

export function writeHistogram(name: string, help: string, label: string, latencies: Latencies): string {
  const lines = [writeHead(name, help, "histogram")];
  for (const [suffix, value, bound, figure] of latencies.samples()) {
    const own = writePair(label, value);
    const pairs = bound === undefined ? [own] : [own, writePair("le", bound)];
    lines.push(writeSample(name + suffix, pairs, figure));
  }
  return lines.join("");
}

function writeHead(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function writePair(label: string, value: string): string {
  const text = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `${label}="${text}"`;
}

function writeSample(name: string, pairs: readonly string[], figure: number): string {
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${figure}\n`;
}
