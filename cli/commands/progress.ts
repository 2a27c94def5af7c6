/** The progress of an import on standard error, every few seconds. */
import {count} from "../../client/bytes/values.ts";
import type {ImportEvent} from "../../workers/messages/importJob.ts";

const LINE_EVERY_MS = 3_000;

export function createProgress(): (event: ImportEvent) => void {
  const startedMs = performance.now();
  let nextMs = startedMs + LINE_EVERY_MS;
  return event => {
    const nowMs = performance.now();
    if (nowMs < nextMs) return;
    nextMs = nowMs + LINE_EVERY_MS;
    const {head, target, blocks, accounts} = event;
    const seconds = (nowMs - startedMs) / 1000;
    const left = remainingShare(event);
    process.stderr.write(
      `import: block ${head.latest ?? "-"}${target === undefined ? "" : ` of ${target}`}, ${count(blocks, "block")}, ` +
        `${Math.round(accounts / seconds)} accounts/s${left === undefined ? "" : `, ${formatSeconds(left * seconds)} left`}\n`,
    );
  };
}

/** The remaining work as a multiple of the finished work. undefined: unknown. */
function remainingShare({target, blocks, head, bytesTotal, bytesRead}: ImportEvent): number | undefined {
  if (target !== undefined && blocks > 0) return Math.max(0, target - (head.latest ?? 0)) / blocks;
  return bytesTotal === undefined || bytesRead === 0
    ? undefined
    : Math.max(0, bytesTotal - bytesRead) / bytesRead;
}

export function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h${Math.floor((whole % 3600) / 60)}m`;
}

/** An integer, with spaces between thousands. */
export function formatCount(n: number): string {
  return Math.round(n).toLocaleString("en").replaceAll(",", " ");
}
