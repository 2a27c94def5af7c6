/** Shows an import's progress on standard error: a bar on a terminal, otherwise a line every few seconds. */
import {Presets, SingleBar} from "cli-progress";
import type {ImportEvent} from "../../workers/job/importJob.ts";

export interface Progress {
  show(event: ImportEvent): void;
  close(): void;
}

const LINE_EVERY_MS = 3_000;

const BAR_FORMAT =
  "{bar} {percentage}% | block {head} | {blocks} blocks | {accountsPerSecond} accounts/s | {remaining} left";

/** @param stream - standard error of this process */
export function createProgress(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY === true ? createBar(stream) : createLines(stream);
}

function createBar(stream: NodeJS.WriteStream): Progress {
  const startedMs = performance.now();
  const bar = new SingleBar(
    {stream, format: BAR_FORMAT, hideCursor: true, etaBuffer: 1},
    Presets.shades_classic,
  );
  let isStarted = false;
  return {
    show(event) {
      const total = event.bytesTotal ?? event.target ?? 0;
      const done = event.target === undefined ? event.bytesRead : (event.head.latest ?? 0);
      const fields = {...countRates(event, startedMs), head: event.head.latest ?? "-", blocks: event.blocks};
      if (!isStarted) bar.start(total, done, fields);
      isStarted = true;
      bar.setTotal(total);
      bar.update(done, fields);
    },
    close() {
      if (isStarted) bar.stop();
    },
  };
}

function createLines(stream: NodeJS.WriteStream): Progress {
  const startedMs = performance.now();
  let nextMs = startedMs + LINE_EVERY_MS;
  return {
    show(event) {
      const nowMs = performance.now();
      if (nowMs < nextMs) return;
      nextMs = nowMs + LINE_EVERY_MS;
      const {accountsPerSecond, remaining} = countRates(event, startedMs);
      const left = remaining === "?" ? "" : `, ${remaining} left`;
      const head = event.head.latest ?? "-";
      const goal = event.target === undefined ? "" : ` of ${event.target}`;
      stream.write(
        `import: block ${head}${goal}, ${event.blocks} blocks, ${accountsPerSecond} accounts/s${left}\n`,
      );
    },
    close() {},
  };
}

function countRates(event: ImportEvent, startedMs: number): {accountsPerSecond: number; remaining: string} {
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
