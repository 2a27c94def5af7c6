/** An import's progress as a line every few seconds. */
import type {ImportEvent} from "../../workers/job/importJob.ts";
import {countRates} from "./importRates.ts";

export interface Progress {
  show(event: ImportEvent): void;
  close(): void;
}

const LINE_EVERY_MS = 3_000;

export function createLines(stream: NodeJS.WriteStream): Progress {
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
