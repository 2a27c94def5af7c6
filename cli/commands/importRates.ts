/** How fast an import is, and how long it still takes. */
import type {ImportEvent} from "../../workers/job/importJob.ts";

/** @param startedMs - when the import began, as performance.now() gives it */
export function countRates(
  event: ImportEvent,
  startedMs: number,
): {accountsPerSecond: number; remaining: string} {
  const seconds = Math.max(0.001, (performance.now() - startedMs) / 1000);
  const accountsPerSecond = Math.round(event.accounts / seconds);
  if (event.target !== undefined && event.blocks > 0) {
    const blocksLeft = Math.max(0, event.target - (event.head.latest ?? 0));
    return {accountsPerSecond, remaining: formatSeconds((blocksLeft / event.blocks) * seconds)};
  }
  if (event.bytesTotal === undefined || event.bytesRead === 0) return {accountsPerSecond, remaining: "?"};
  const left = Math.max(0, event.bytesTotal - event.bytesRead);
  return {accountsPerSecond, remaining: formatSeconds((left / event.bytesRead) * seconds)};
}

function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h${Math.floor((whole % 3600) / 60)}m`;
}
