/** What the parts of the service's bench find: figures, some with a target. */

import {writeNumber} from "../program/table.ts";
import type {ServerProcess} from "../served/serverProcess.ts";

export interface ServiceBench {
  readonly accounts: number;
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
  readonly atMost?: number;
  readonly atLeast?: number;
}

export function writeFinding({figure, value, unit, atMost, atLeast}: Finding): string[] {
  const withUnit = (number: number | undefined) =>
    unit === "x" ? `x ${writeNumber(number)}` : `${writeNumber(number)} ${unit}`.trim();
  const limit = atMost ?? atLeast;
  if (limit === undefined) return [figure, withUnit(value), "", ""];
  const isMet = value !== undefined && value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity);
  const target = `${atMost === undefined ? "at least" : "at most"} ${withUnit(limit)}`;
  return [figure, withUnit(value), target, isMet ? "met" : "NOT MET"];
}
