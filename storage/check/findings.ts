/**
 * What a check counts and finds.
 */
import {StoreError} from "../errors.ts";

export interface Findings {
  blocks: number;
  pages: number;
  leaves: number;
  findings: number;
  /** @param where - block, tree, page or leaf. @param what - is wrong there */
  report(where: string, what: string): void;
  /** Called now and then. @param of - what is being checked. @returns false to end the check there */
  pause(of: string): Promise<boolean>;
}

/** Damage is a finding; what is not expected is thrown on. */
export function toFinding(error: unknown): string {
  if (error instanceof StoreError) return `${error.code}: ${error.message}`;
  // A page whose checksum holds but whose numbers do not: offsets beyond its end.
  if (error instanceof RangeError) return `RECORD_DAMAGED: ${error.message}`;
  throw error;
}
