/** What crosses between `proofd finalize` and the process that has the store open: POST /finalize. */
import type {Head} from "../../workers/job/head.ts";

export const FINALIZE_PATH = "/finalize";
/** An order is a number in a few words. */
export const MAX_ORDER_BYTES = 1024;
export const MAX_BLOCK = 2 ** 48 - 1;

export interface FinalizeOrder {
  readonly to: number;
}

export type FinalizeAnswer =
  | {readonly ok: true; readonly before: Head; readonly after: Head}
  /** `message` is for the operator. */
  | {readonly ok: false; readonly message: string};

/** @returns undefined for anything else */
export function parseFinalizeOrder(text: string): FinalizeOrder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("to" in value)) return undefined;
  const {to} = value;
  return Number.isInteger(to) && (to as number) >= 0 && (to as number) <= MAX_BLOCK
    ? {to: to as number}
    : undefined;
}
