/** An import's progress as a bar on a terminal. */
import {Presets, SingleBar} from "cli-progress";
import {countRates} from "./importRates.ts";
import type {Progress} from "./progressLines.ts";

const BAR_FORMAT =
  "{bar} {percentage}% | block {head} | {blocks} blocks | {accountsPerSecond} accounts/s | {remaining} left";

/** @param stream - a terminal */
export function createBar(stream: NodeJS.WriteStream): Progress {
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
