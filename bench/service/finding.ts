/** What the parts of the service's bench find: figures, with a target where there is one. */

import {writeNumber} from "../program/table.ts";
import type {ServerProcess} from "../served/serverProcess.ts";

export interface ServiceBench {
  readonly accounts: number;
  readonly durationSeconds: number;
  /** Of the single proofs whose latency is watched, per second. */
  readonly rate: number;
  /** Folder of the store, a copy. */
  readonly directory: string;
  readonly startServer: (args?: readonly string[]) => Promise<ServerProcess>;
}

export interface Finding {
  readonly figure: string;
  readonly value: number | undefined;
  readonly unit: "MB" | "ms" | "x" | "us" | "/s" | "";
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
