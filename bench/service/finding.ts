/** What the parts of the service's bench find: figures. */

import {writeNumber} from "../program/table.ts";
import type {LoadChoice} from "../served/measuredLoad.ts";
import type {ServerProcess} from "../served/serverProcess.ts";

export interface ServiceBench {
  readonly accounts: number;
  readonly keys: LoadChoice["keys"];
  readonly durationSeconds: number;
  /** Single proofs per second. Their latency is measured. */
  readonly rate: number;
  /** Folder of the store, which is a copy. */
  readonly directory: string;
  readonly startServer: (args?: readonly string[]) => Promise<ServerProcess>;
}

export interface Finding {
  readonly figure: string;
  readonly value: number | undefined;
  readonly unit: "MB" | "ms" | "x" | "us" | "/s" | "bytes" | "";
}

export function writeFinding({figure, value, unit}: Finding): string[] {
  return [figure, unit === "x" ? `x ${writeNumber(value)}` : `${writeNumber(value)} ${unit}`.trim()];
}
