/** Shows the figures of the last second in one line, if standard error is a terminal. */

import type {TimelineRow} from "../traffic/timeline.ts";
import {count, formatCount, formatMegabytes, formatMs} from "./figureText.ts";

const ERASE_LINE = "\r\x1b[K";

export class LiveLine {
  constructor(private readonly stream: NodeJS.WriteStream) {}

  show(row: TimelineRow): void {
    if (this.stream.isTTY === true) this.stream.write(`${ERASE_LINE}${formatLiveLine(row)}`);
  }

  close(): void {
    if (this.stream.isTTY === true) this.stream.write(ERASE_LINE);
  }
}

function formatLiveLine(row: TimelineRow): string {
  const {second, answered, results, bytes, failed, callErrors, p99Ms} = row;
  const when = second < 0 ? `warm-up, ${-second} s to go` : `${second + 1} s`;
  const p99 = p99Ms === undefined ? "" : ` | p99 ${formatMs(p99Ms)} ms`;
  return (
    `${when} | ${formatCount(answered)} requests/s | ${formatCount(results)} calls/s | ${formatMegabytes(bytes)}/s` +
    `${p99} | ${count(failed, "request")} failed, ${count(callErrors, "call")} with errors`
  );
}
